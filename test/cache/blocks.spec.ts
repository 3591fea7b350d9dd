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

describe('what a process knows to be blocked', () => {
  it('has links, bio pages, branded domains, hosts and patterns', () => {
    const blocks = openBlocks()
    blocks.set([
      known('link', '7'),
      known('bio', '8'),
      known('domain', 'go.evil.example'),
      known('host', 'bad.example', 'malware'),
      known('pattern', 'sites.example/evil*'),
      known('planet', 'mars'),
    ])
    expect([blocks.link(7), blocks.link(8), blocks.bio(8), blocks.bio(7)]).to.deep.equal([true, false, true, false])
    expect([blocks.domain('go.evil.example'), blocks.domain('evil.example')]).to.deep.equal([true, false])
    expect(blocks.destination('https://a.bad.example/x')).to.deep.equal({ rule: 'bad.example', reason: 'malware' })
    expect(blocks.destination('https://sites.example/evil-1')?.rule).to.equal('sites.example/evil*')
    expect(blocks.destination('https://go.evil.example/')).to.equal(undefined)
  })

  it('has the addresses of a blocked link, whoever has them next', () => {
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

  it('keeps the newest state of each, in whatever order it arrives', () => {
    const blocks = openBlocks()
    blocks.set([known('host', 'bad.example', null, 5n)])
    blocks.set([known('host', 'bad.example', 'old', 4n)])
    expect(blocks.destination('https://bad.example/')).to.equal(undefined)
    blocks.set([known('host', 'bad.example', 'new', 6n)])
    expect(blocks.destination('https://bad.example/')?.reason).to.equal('new')
  })

  it('has a list of what is allowed, which wins over the lists and not over what the operator has blocked', () => {
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
