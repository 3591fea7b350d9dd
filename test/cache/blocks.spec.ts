import { expect } from 'chai'
import { openBlocks } from '../../src/cache/blocks.ts'
import { blockList } from '../../src/lib/blocklist.ts'

const known = (kind: string, value: string, reason: string | null = 'phishing', position = 1n) => ({
  kind,
  value,
  reason,
  addresses: [] as readonly string[],
  position,
})

describe('the blocks in the memory of a process', () => {
  it('has links, bio pages, campaigns, branded domains, hosts and patterns', () => {
    const blocks = openBlocks()
    blocks.set([
      known('link', '7'),
      known('bio', '8'),
      known('campaign', '9'),
      known('domain', 'go.evil.example'),
      known('host', 'bad.example', 'malware'),
      known('pattern', 'sites.example/evil*'),
      known('planet', 'mars'),
    ])
    expect([blocks.link(7), blocks.link(8), blocks.bio(8), blocks.bio(7)]).to.deep.equal([true, false, true, false])
    expect([blocks.campaign(9), blocks.campaign(8), blocks.link(9)]).to.deep.equal([true, false, false])
    expect([blocks.domain('go.evil.example'), blocks.domain('evil.example')]).to.deep.equal([true, false])
    expect(blocks.destination('https://a.bad.example/x')).to.deep.equal({ rule: 'bad.example', reason: 'malware' })
    expect(blocks.destination('https://sites.example/evil-1')?.rule).to.equal('sites.example/evil*')
    expect(blocks.destination('https://go.evil.example/')).to.equal(undefined)
  })

  it('finds the host of a recipient, of an app and in a text, in each spelling that a program reads', () => {
    const blocks = openBlocks()
    blocks.setList('file', blockList({ hosts: new Set(['evil.example', 'xn--bcher-kva.example', '192.0.2.235']) }))
    for (const url of [
      'mailto:a@EVIL.example',
      'mailto:a@ev%69l.example',
      'mailto:a%40evil.example',
      'mailto:a@ok.example,b@evil.example',
      'mailto:?TO=a@evil.example',
      'mailto:?To=a%40evil.example',
      'mailto:?t%6f=a@evil.example',
      'mailto:?cc=x@ok.example&CC=a@evil.example',
      'mailto:%22x%22%20%3Ca@evil.example%3E',
      'mailto:?to=x%20%3Ca@evil.example%3E',
      'mailto:a@bücher.example',
      'mailto:a@b%C3%BCcher.example',
      'mailto:a@ok.example?body=https://evil.example/x',
      'mailto:a@ok.example?body=see%20evil.example%2Fx%20now',
      'sms:+1555?body=https://evil.example/x',
      'sms:+1555?BODY=evil.example',
      'myapp://evil.example/x',
      'myapp://EVIL.example:8080/x',
      'myapp://a.ev%69l.example/x',
      'myapp://bücher.example/',
      'myapp://3221226219/',
      'intent://EVIL.example/#Intent;scheme=https;end',
      'intent:#Intent;S.browser_fallback_url=https%3A%2F%2Fevil.example%2F;end',
      'myapp:open?url=https%3A%2F%2Fevil.example%2F',
    ])
      expect(blocks.destination(new URL(url).href), url).not.to.equal(undefined)
    for (const url of [
      'mailto:a@ok.example?subject=b@evil.example',
      'myapp://evil/example',
      'sms:+1555?body=no%20evil',
      'tel:+15550100',
      'geo:48.1,11.5',
    ])
      expect(blocks.destination(url), url).to.equal(undefined)
  })

  it('blocks the addresses of a blocked link for their next owner, too', () => {
    const blocks = openBlocks()
    blocks.set([{ ...known('link', '7'), addresses: ['/phish', 'go.example.com/phish'] }])
    const isBlocked = (site: string | undefined, alias: string) => blocks.address(site, alias)
    expect([isBlocked(undefined, 'Phish'), isBlocked('https://go.example.com', 'phish')]).to.deep.equal([true, true])
    expect([isBlocked(undefined, 'other'), isBlocked('https://go2.example.com', 'phish')]).to.deep.equal([false, false])
    const hosts = ['go.example.com', 'GO.example.com.:8443', 'go2.example.com']
    expect(hosts.map((host) => blocks.addressOn(host, 'PHISH'))).to.deep.equal([true, true, false])
    blocks.set([known('link', '7', null, 2n)])
    expect(isBlocked(undefined, 'phish')).to.equal(false)
    expect(blocks.addressOn('go.example.com', 'phish')).to.equal(false)
  })

  it('keeps the newest state of each, in any order of arrival', () => {
    const blocks = openBlocks()
    blocks.set([known('host', 'bad.example', null, 5n)])
    blocks.set([known('host', 'bad.example', 'old', 4n)])
    expect(blocks.destination('https://bad.example/')).to.equal(undefined)
    blocks.set([known('host', 'bad.example', 'new', 6n)])
    expect(blocks.destination('https://bad.example/')?.reason).to.equal('new')
  })

  it('has an allow list, which wins over the lists and not over blocks of the operator', () => {
    const blocks = openBlocks()
    const list = (...hosts: string[]) => blockList({ hosts: new Set(hosts) })
    blocks.setList('file', list('a.example'))
    blocks.setList('url', list('b.example', 'c.example', 'evil.b.example'))
    blocks.setList('allowed', list('a.example', 'b.example'))
    const ruleOf = (url: string) => blocks.destination(url)?.rule
    const asked = ['https://a.example/', 'https://x.b.example/', 'https://evil.b.example/', 'https://c.example/']
    expect(asked.map(ruleOf)).to.deep.equal([undefined, undefined, undefined, 'c.example'])
    blocks.set([known('host', 'a.example')])
    expect(ruleOf('https://a.example/')).to.equal('a.example')
  })

  it('also has the lists, which replace each other by their source and give no reason', () => {
    const blocks = openBlocks()
    const list = (...hosts: string[]) => blockList({ hosts: new Set(hosts) })
    blocks.setList('file', list('a.example'))
    blocks.setList('url', list('b.example'))
    blocks.setList('file', list('c.example'))
    const ruleOf = (url: string) => blocks.destination(url)?.rule
    expect(['https://a.example/', 'https://b.example/', 'https://c.example/'].map(ruleOf)).to.deep.equal([
      undefined,
      'b.example',
      'c.example',
    ])
    expect(blocks.destination('https://c.example/')?.reason).to.equal(undefined)
  })
})
