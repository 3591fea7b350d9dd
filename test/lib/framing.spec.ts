import { expect } from 'chai'
import { frameHosts, framingRefusal } from '../../src/lib/framing.ts'

const page = 'https://shop.example/a'
const us = 'https://go.example.com'

/** Returns which header refuses, for a page with these headers. */
const byOption = (option: string, embedder = us) => framingRefusal({ 'x-frame-options': option }, page, embedder)
const byPolicy = (policy: string, embedder = us, destination = page) =>
  framingRefusal({ 'content-security-policy': policy }, destination, embedder)

describe('framingRefusal', () => {
  it('finds no refusal in a page without such headers', () => {
    expect(framingRefusal({}, page, us)).to.equal(undefined)
    expect(byPolicy(`default-src 'none'; frame-src 'none'; script-src 'self'`)).to.equal(undefined)
  })

  it('reads X-Frame-Options as browsers do, also repeated', () => {
    for (const option of ['DENY', 'deny', ' SAMEORIGIN ', 'sameorigin, SAMEORIGIN', 'DENY, junk', 'ALLOWALL, junk'])
      expect(byOption(option), option).to.equal('x-frame-options')
    for (const option of ['', 'ALLOWALL', 'ALLOW-FROM https://go.example.com', 'junk', 'junk, other'])
      expect(byOption(option), option).to.equal(undefined)
    expect(byOption('SAMEORIGIN', 'https://shop.example')).to.equal(undefined)
  })

  it('matches frame-ancestors with our origin: hosts, wildcards, schemes and ports', () => {
    const allowed = [
      'frame-ancestors *',
      'frame-ancestors https:',
      'frame-ancestors http:',
      'FRAME-ANCESTORS Go.Example.com',
      'frame-ancestors https://go.example.com',
      'frame-ancestors http://go.example.com',
      'frame-ancestors go.example.com:443',
      'frame-ancestors http://go.example.com:80',
      'frame-ancestors *.example.com:*',
      'frame-ancestors https://go.example.com/path',
      `frame-ancestors 'self' https://other.example *.example.com`,
      `default-src 'none';  frame-ancestors   https://go.example.com ; frame-ancestors 'none'`,
    ]
    const refused = [
      'frame-ancestors',
      `frame-ancestors 'none'`,
      `frame-ancestors 'self'`,
      'frame-ancestors https://example.com',
      'frame-ancestors *.go.example.com',
      'frame-ancestors go.example.com.evil.example',
      'frame-ancestors go.example.com:8443',
      'frame-ancestors wss:',
      'frame-ancestors data:',
      'frame-ancestors https://*.example.org',
      `frame-ancestors 'none'; frame-ancestors *`,
    ]
    for (const policy of allowed) expect(byPolicy(policy), policy).to.equal(undefined)
    for (const policy of refused) expect(byPolicy(policy), policy).to.equal('frame-ancestors')
  })

  it('requires a port that the policy names, and the default port where it names none', () => {
    expect(byPolicy('frame-ancestors localhost', 'http://localhost:3000')).to.equal('frame-ancestors')
    for (const source of ['http://localhost:3000', 'http://localhost:*', 'http:', '*'])
      expect(byPolicy(`frame-ancestors ${source}`, 'http://localhost:3000'), source).to.equal(undefined)
  })

  it('takes a host without a scheme for the scheme of the page, or https', () => {
    expect(byPolicy('frame-ancestors go.example.com', 'http://go.example.com')).to.equal('frame-ancestors')
    expect(byPolicy('frame-ancestors go.example.com', us, 'http://shop.example/')).to.equal(undefined)
    expect(byPolicy(`frame-ancestors 'self'`, 'https://shop.example', 'http://shop.example/')).to.equal(undefined)
    expect(byPolicy(`frame-ancestors 'self'`, 'http://shop.example')).to.equal('frame-ancestors')
  })

  it('requires each of several policies to allow it, in one header or in two', () => {
    expect(byPolicy(`frame-ancestors *, frame-ancestors 'none'`)).to.equal('frame-ancestors')
    expect(byPolicy(`default-src 'self', frame-ancestors *.example.com`)).to.equal(undefined)
  })

  it('ignores X-Frame-Options where frame-ancestors is sent, as browsers do', () => {
    const headers = (policy: string) => ({ 'x-frame-options': 'DENY', 'content-security-policy': policy })
    expect(framingRefusal(headers('frame-ancestors *.example.com'), page, us)).to.equal(undefined)
    expect(framingRefusal(headers(`default-src 'self'`), page, us)).to.equal('x-frame-options')
  })
})

describe('frameHosts', () => {
  it('adds the same host with or without www., unless it is an address', () => {
    expect(frameHosts('https://a.example/x')).to.deep.equal(['a.example', 'www.a.example'])
    expect(frameHosts('https://www.a.example:8443/x')).to.deep.equal(['www.a.example:8443', 'a.example:8443'])
    expect(frameHosts('http://192.0.2.7/')).to.deep.equal(['192.0.2.7'])
    expect(frameHosts('http://[2001:db8::1]:81/')).to.deep.equal(['[2001:db8::1]:81'])
  })
})
