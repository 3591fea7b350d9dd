import { expect } from 'chai'
import { createFrameProbe } from '../../../src/app/jobs/frameprobe.ts'
import { aborted } from '../../../src/lib/async/aborted.ts'
import type { Probed } from '../../../src/lib/fetch.ts'

const us = 'https://go.example'
const ok = (headers: Record<string, string> = {}): Probed => ({ status: 200, headers })
const redirect = (location: string, status = 302): Probed => ({ status, headers: { location } })

/** Opens a probe of pages that answer as listed; the others do not answer. Its clock is `later`. */
const open = (pages: Readonly<Record<string, Probed>>) => {
  const asked: string[] = []
  let now = 0
  const probe = createFrameProbe({
    probe: async (url) => {
      asked.push(url)
      return pages[url]
    },
    now: () => now,
  })
  return { probe: (url: string, embedder = us) => probe(url, embedder), asked, later: (ms: number) => (now += ms) }
}

describe('the probe of framed destinations', () => {
  it('returns why a page refuses, and null when it does not', async () => {
    const { probe } = open({ 'https://a.example/': ok({ 'x-frame-options': 'DENY' }), 'https://b.example/': ok() })
    expect(await probe('https://a.example/')).to.equal('x-frame-options')
    expect(await probe('https://b.example/')).to.equal(null)
  })

  it('ends its request and asks nothing more when the service stops', async () => {
    const stopping = new AbortController()
    const asked: string[] = []
    const probe = createFrameProbe({
      probe: async (url, stop) => {
        asked.push(url)
        await aborted(stop ?? expect.fail('the request cannot be stopped'))
        return redirect('https://a.example/next')
      },
    })
    const verdict = probe('https://a.example/', us, stopping.signal)
    stopping.abort()
    expect(await verdict).to.equal('later')
    expect(await probe('https://b.example/', us, stopping.signal)).to.equal('later')
    expect(asked).to.deep.equal(['https://a.example/'])
  })

  it('believes the last page of redirects, as browsers do', async () => {
    const { probe } = open({
      'http://a.example/': redirect('https://a.example/'),
      'https://a.example/': {
        status: 301,
        headers: { location: 'https://www.a.example/en', 'x-frame-options': 'DENY' },
      },
      'https://www.a.example/en': ok({ 'content-security-policy': `frame-ancestors 'self'` }),
      'https://b.example/': redirect('/home'),
      'https://b.example/home': ok(),
    })
    expect(await probe('http://a.example/', 'http://go.example')).to.equal('frame-ancestors')
    expect(await probe('https://b.example/')).to.equal(null)
  })

  it('reports a redirect that our own policy or the browser would not load in the frame', async () => {
    const { probe, asked } = open({
      'https://a.example/': redirect('https://login.other.example/'),
      'https://b.example/': redirect('http://b.example/plain'),
      'https://c.example/': redirect('javascript:alert(1)'),
    })
    for (const url of ['https://a.example/', 'https://b.example/', 'https://c.example/'])
      expect(await probe(url), url).to.equal('redirect')
    expect(asked).to.have.length(3)
  })

  it('concludes nothing from errors, endless redirects and silence', async () => {
    const { probe, asked } = open({
      'https://a.example/': { status: 403, headers: { 'x-frame-options': 'DENY' } },
      'https://b.example/': { status: 503, headers: { 'x-frame-options': 'DENY' } },
      'https://c.example/': { status: 302, headers: {} },
      'https://d.example/': redirect('https://d.example/?'),
      'https://d.example/?': redirect('https://d.example/'),
      'https://e.example/': redirect('http://[::1'),
    })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'silent'])
      expect(await probe(`https://${name}.example/`)).to.equal('unknown')
    expect(asked.length).to.be.below(12)
  })

  it('sends a site few requests a minute, across all its host names', async () => {
    const { probe, asked, later } = open({})
    const ask = (n: number) => probe(`https://host-${n}.victim.example/${n}`)
    const verdicts = []
    for (let n = 0; n < 50; n++) verdicts.push(await ask(n))
    expect(asked).to.have.length(10)
    expect(verdicts.slice(10).every((verdict) => verdict === 'later')).to.equal(true)
    expect(await probe('https://other.test/')).to.equal('unknown')
    later(60_001)
    expect(await ask(49)).to.equal('unknown')
  })

  it('asks for the same page once a minute', async () => {
    const { probe, asked, later } = open({ 'https://a.example/': ok() })
    for (let n = 0; n < 20; n++) expect(await probe('https://a.example/')).to.equal(null)
    expect(asked).to.have.length(1)
    later(60_001)
    await probe('https://a.example/')
    expect(asked).to.have.length(2)
  })
})
