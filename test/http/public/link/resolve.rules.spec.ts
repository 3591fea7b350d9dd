import { expect } from 'chai'
import { chanceOf } from '../../../../src/http/public/link/chance.ts'
import { withForwarded } from '../../../../src/http/public/link/forward.ts'
import { resolve, type Visitor } from '../../../../src/http/public/link/resolve.ts'
import type { Target } from '../../../../src/queries/links/target.ts'
import { isBrowser, isDevice } from '../../../../src/clicks/visitor/agent.ts'
import { target } from '../../../support/targets.ts'

const now = Date.parse('2026-06-01T12:00:00Z')
const seconds = (n: number) => new Date(now + n * 1000)
const key = Buffer.alloc(32, 7)

const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X)'
const visitor = (over: Partial<Visitor> = {}): Visitor => ({
  unlocked: false,
  agent: iphone,
  isDevice: (name) => isDevice(name, over.agent ?? iphone),
  isBrowser: (name) => isBrowser(name, over.agent ?? iphone),
  country: () => 'CA',
  languages: () => ['fr'],
  untracked: () => false,
  secure: () => true,
  query: () => '',
  chance: () => 0.5,
  ...over,
})
const go = (over: Partial<Target>, { clicks = 0, ...who }: Partial<Visitor> & { readonly clicks?: number } = {}) =>
  resolve(target(1, 'a', over), visitor(who), now, (host) => host === 'ours.example', clicks)

describe('a link that does not lead to its destination', () => {
  it('has not started, which comes before its password and its end', () => {
    const closed = { to: 'not-started' }
    expect(go({ starts: seconds(1), password: 'hash' })).to.deep.equal(closed)
    expect(go({ starts: seconds(1), max_clicks: 1 }, { clicks: 1 })).to.deep.equal(closed)
    expect(go({ starts: seconds(0) })).to.include({ to: 'destination' })
  })
  it('has ended, by time or by the number of its clicks', () => {
    expect(go({ expiry: seconds(0), password: 'hash' })).to.deep.equal({ to: 'expired' })
    expect(go({ max_clicks: 3 }, { clicks: 2 })).to.include({ to: 'destination' })
    expect(go({ max_clicks: 3 }, { clicks: 3 })).to.deep.equal({ to: 'used-up' })
    expect(go({ max_clicks: 3, password: 'hash' }, { clicks: 4 })).to.deep.equal({ to: 'used-up' })
  })
  it('leads to its other place, unless that has become one of our own addresses', () => {
    const expired_url = 'https://example.com/over?a=1#b'
    const instead = { to: 'instead', url: expired_url }
    expect(go({ expiry: seconds(0), expired_url, parameters: [{ name: 'c', value: 'd' }] })).to.deep.equal(instead)
    expect(go({ max_clicks: 1, expired_url, forward: true }, { clicks: 1, query: () => 'x=1' })).to.deep.equal(instead)
    expect(go({ expired_url })).to.include({ to: 'destination', url: 'https://example.com/' })
    expect(go({ expiry: seconds(0), expired_url: 'https://ours.example/x' })).to.deep.equal({ to: 'expired' })
  })
})

describe('the query that a visitor brings', () => {
  const forward = (query: string, over: Partial<Target> = {}) => {
    const found = go({ forward: true, ...over }, { query: () => query })
    return found.to === 'destination' ? found : expect.fail(found.to)
  }
  it('is passed on after the query and the parameters of the link, and is not recorded', () => {
    const parameters = [{ name: 'utm_source', value: 'mail' }]
    expect(forward('ref=ann%40example.com', { url: 'https://example.com/?a=1#part', parameters })).to.include({
      url: 'https://example.com/?a=1&utm_source=mail&ref=ann%40example.com#part',
      recorded: 'https://example.com/?a=1&utm_source=mail#part',
    })
    expect(forward('')).to.deep.equal({
      to: 'destination',
      url: 'https://example.com/',
      rule: 'link',
      way: 'redirect',
    })
    expect(go({}, { query: () => 'ref=1' })).to.include({ url: 'https://example.com/' })
  })
  it('is not recorded, nor are the parameters where these make the address longer than any other', () => {
    const url = 'https://example.com/?a=1'
    const wide = (value: string) => [
      { name: 'n', value: '\u6f22'.repeat(240) },
      { name: 'v', value },
    ]
    const within = forward('', { url, parameters: wide('') })
    expect([within.url.length < 2300, within.recorded]).to.deep.equal([true, url])
    for (const query of ['', 'ref=1']) {
      const long = forward(query, {
        url,
        parameters: Array.from({ length: 20 }, (_, n) => ({ name: `p${n}`, value: '\u6f22'.repeat(120) })),
      })
      expect([long.url.length > 20_000, long.recorded]).to.deep.equal([true, url])
    }
    const short = forward('', { url, parameters: [{ name: 'n', value: '\u6f22'.repeat(100) }] })
    expect(short).not.to.have.property('recorded')
  })
  it('cannot replace parameters that the owner has set, in any spelling', () => {
    const url = 'https://example.com/pay?to=shop&A[x]=1#f'
    const tries = ['to=me', 'TO=me', '%74o=me', 't%6F=me', 'to[]=me', 'a=me', 'a[y]=me', '?to=me', 'to', '&&to=me&']
    for (const query of tries) expect(withForwarded(url, query), query).to.equal(url)
    expect(withForwarded(url, 'x=1;to=me')).to.equal('https://example.com/pay?to=shop&A[x]=1&x=1%3Bto=me#f')
  })
  it('cannot replace it by a name that ASP.NET or a framework reads as the same', () => {
    const url = 'https://example.com/?utm_source=own'
    for (const query of [
      '%u0075tm_source=x',
      '%U0075TM_source=x',
      'utm%u005fsource=x',
      'utm_source%09=x',
      'utm_source+=x',
    ])
      expect(withForwarded(url, query), query).to.equal(url)
    for (const query of ['%u00=x', '%ud800=x', '%u0061=x'])
      expect(withForwarded(url, query), query).to.equal(`${url}&${query}`)
  })

  it('cannot replace it by a name that PHP reads as the same', () => {
    const url = 'https://example.com/?utm_source=mail&next=1'
    for (const query of ['utm.source=x', 'utm%20source=x', 'utm[source=x', '+next=x', '%20%20next[]=x', 'next%00y=x'])
      expect(withForwarded(url, query), query).to.equal(url)
    expect(withForwarded(url, 'next%00page=2')).to.equal(url)
    expect(withForwarded(url, 'next_page=2')).to.equal(`${url}&next_page=2`)
    const upper = 'https://example.com/?Next=1'
    expect(withForwarded(upper, 'next=2')).to.equal(upper)
    expect(withForwarded(upper, '=2'), 'a parameter without a name').to.equal(`${upper}&=2`)
  })
  it('cannot change the host or the path, and cannot break the header', () => {
    for (const query of [
      '@evil.example/',
      '//evil.example',
      '\\evil',
      '#@evil',
      '\r\nSet-Cookie: a=b',
      '\u00e9"<>`{}',
      '\t\v',
      '?',
      '=',
    ]) {
      const sent = withForwarded('https://example.com', query)
      expect(new URL(sent), query).to.include({ host: 'example.com', pathname: '/', hash: '' })
      expect(sent, query).to.match(/^[\w\-.~!$'()*+,:@/?%=&]*$/)
    }
  })
  it('keeps its own spelling, and is left out when it is too long', () => {
    expect(withForwarded('https://example.com/', 'q=a%20b+c&flag&x=%e9')).to.equal(
      'https://example.com/?q=a%20b+c&flag&x=%e9',
    )
    expect(withForwarded('https://example.com/?', 'q')).to.equal('https://example.com/?q')
    expect(withForwarded('https://example.com/', 'a=\t')).to.equal('https://example.com/?a=%09')
    expect(withForwarded('https://example.com/', `q=${'x'.repeat(2046)}`)).to.have.lengthOf(20 + 1 + 2048)
    expect(withForwarded('https://example.com/', `q=${'x'.repeat(2047)}`)).to.equal('https://example.com/')
  })
})

describe('the variants of a link', () => {
  const variant = (id: number, weight: number) => ({ id, weight, url: `https://v${id}.example/` })
  const chosen = (variants: Target['variants'], visitorText: string, over: Partial<Target> = {}) => {
    const found = go({ variants, ...over }, { chance: (id) => chanceOf(key, `1/${id}`, visitorText) })
    return found.to === 'destination' ? found : expect.fail(found.to)
  }
  const people = Array.from({ length: 3000 }, (_, i) => `192.0.2.${i}\nFirefox`)
  const split = (variants: Target['variants']) => people.map((who) => Number(chosen(variants, who).rule.split(':')[1]))
  const share = (found: readonly number[], id: number) => found.filter((one) => one === id).length / found.length

  it('get visitors in proportion to their weights, each always the same', () => {
    const variants = [variant(1, 1), variant(2, 3), variant(3, 0)]
    const found = split(variants)
    expect(share(found, 1)).to.be.closeTo(0.25, 0.04)
    expect(share(found, 3)).to.equal(0)
    expect(split(variants)).to.deep.equal(found)
    expect(chosen(variants, people[0]!)).to.include({
      url: `https://v${found[0]}.example/`,
      rule: `variant:${found[0]}`,
    })
  })
  it('keep their visitors when URLs change, others come or go, or weights change: only so many move as must', () => {
    const before = split([variant(1, 1), variant(2, 1)])
    const edited = split([{ ...variant(2, 1), url: 'https://other.example/' }, variant(1, 1)])
    expect(edited).to.deep.equal(before)
    const more = split([variant(1, 1), variant(2, 1), variant(3, 2)])
    expect(more.every((id, i) => id === 3 || id === before[i])).to.equal(true)
    const heavier = split([variant(1, 1), variant(2, 3)])
    expect(heavier.every((id, i) => id === before[i] || id === 2)).to.equal(true)
  })
  it('come after the targets, and before the URL of the link', () => {
    const variants = [variant(1, 1), variant(2, 1)]
    const rule = (over: Partial<Target>) => chosen(variants, people[0]!, over).rule
    const to = (name: string) => [{ name, url: 'https://target.example/' }]
    expect(rule({ device: to('iphone') })).to.equal('device:iphone')
    expect(rule({ location: to('Canada') })).to.equal('location:canada')
    expect(rule({ language: to('fr') })).to.equal('language:fr')
    expect(rule({ device: to('android') })).to.match(/^variant:/)
    expect(chosen(variants, people[0]!, { parameters: [{ name: 'a', value: 'b' }] }).url).to.match(
      /^https:\/\/v[12]\.example\/\?a=b$/,
    )
  })
  it('depend on the link, and cannot be predicted without the key', () => {
    const found = people.filter((who) => chanceOf(key, '1/1', who) < 0.5)
    for (const other of [
      people.filter((who) => chanceOf(key, '2/1', who) < 0.5),
      people.filter((who) => chanceOf(Buffer.alloc(32, 8), '1/1', who) < 0.5),
    ])
      expect(found.filter((who) => other.includes(who)).length / people.length).to.be.closeTo(0.25, 0.05)
  })
})
