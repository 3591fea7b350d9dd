import { expect } from 'chai'
import { readBlockList } from '../../src/lib/readblocklist.ts'
import { turnGrowth } from '../support/turns.ts'

const read = async (source: 'operators' | 'others', ...lines: string[]) => {
  const { list, unread, first } = await readBlockList(lines.join('\n'), source)
  return { unread, first, size: list.size, find: (url: string) => list.find(new URL(url)) }
}

describe('a block list as text', () => {
  it('may be a hosts file, with comments and the names of the machine itself', async () => {
    const { find, size, unread } = await read(
      'others',
      '# Title: hosts',
      '127.0.0.1 localhost',
      '::1 ip6-localhost ip6-loopback',
      '255.255.255.255 broadcasthost',
      '0.0.0.0 0.0.0.0',
      '0.0.0.0 evil.example   # phishing',
      '0.0.0.0\tA.bad.example B.bad.example\r',
      '',
      'plain.example',
    )
    expect([size, unread]).to.deep.equal([4, 0])
    for (const host of ['evil.example', 'x.evil.example', 'a.bad.example', 'b.bad.example', 'plain.example'])
      expect(find(`https://${host}/`), host).to.not.equal(undefined)
    for (const host of ['localhost', 'bad.example', 'example'])
      expect(find(`https://${host}/`), host).to.equal(undefined)
  })

  it('of others blocks no top-level domain, and nothing below a public suffix', async () => {
    const { find, size, unread } = await read(
      'others',
      '0.0.0.0 com',
      '0.0.0.0 co.uk',
      '0.0.0.0 github.io',
      '*.x.example',
      '*',
    )
    expect([size, unread]).to.deep.equal([2, 2])
    for (const host of ['example.com', 'bbc.co.uk', 'ann.github.io'])
      expect(find(`https://${host}/`), host).to.equal(undefined)
    expect(find('https://github.io/')).to.equal('github.io')
  })

  it('of others may have addresses, each of which blocks itself alone', async () => {
    const { find, size, unread } = await read(
      'others',
      'https://github.com/Bad/Repo/raw/main/setup.exe',
      'http://drive.example/uc?id=7',
      'HTTP://192.0.2.7:8080/a%62c',
      'https://whole.example',
      'ftp://old.example/x',
    )
    expect([size, unread]).to.deep.equal([4, 1])
    for (const url of [
      'http://github.com/bad/repo//raw/main/setup.exe?download=1#x',
      'https://drive.example/uc?ID=7',
      'http://192.0.2.7/abc',
      'https://whole.example/?x',
    ])
      expect(find(url), url).to.not.equal(undefined)
    for (const url of [
      'https://github.com/',
      'https://github.com/good/repo',
      'https://x.github.com/bad/repo/raw/main/setup.exe',
      'https://drive.example/uc?id=8',
      'https://drive.example/uc',
      'https://whole.example/x',
    ])
      expect(find(url), url).to.equal(undefined)
  })

  it('of the operator may have patterns and top-level domains', async () => {
    const { find } = await read('operators', 'zip', 'sites.example/view/evil*', '*.bad.example # all')
    for (const url of ['https://setup.zip/', 'https://sites.example/view/evil-1', 'https://a.bad.example/'])
      expect(find(url), url).to.not.equal(undefined)
  })

  it('names the first line that cannot be read, and reads the others', async () => {
    const { find, unread, first } = await read('operators', 'evil.example', 'two words', 'https:/x y', 'bad.example')
    expect([unread, first]).to.deep.equal([2, 'line 2: two words'])
    expect(find('https://bad.example/')).to.equal('bad.example')
  })

  it('passes over a line of more than 4,096 characters, and lets others run meanwhile', async () => {
    const long = `0.0.0.0 ${'evil.example '.repeat(400)}`
    const { find, unread, first } = await read('others', long, `# ${long}`, 'bad.example')
    expect([unread, first?.slice(0, 29)]).to.deep.equal([2, 'line 1: 0.0.0.0 evil.example '])
    expect([find('https://evil.example/'), find('https://bad.example/')]).to.deep.equal([undefined, 'bad.example'])
    const lineOf = (size: number) => Array.from({ length: size / 10 }, (_, i) => `${i}.example`).join(' ')
    const growth = await turnGrowth(lineOf, (line) => read('operators', line), { from: 1 << 18, to: 1 << 22, times: 4 })
    expect(growth).to.be.at.most(2)
  })
  it('lets others run between lines, however many hosts they have', async () => {
    const line = `0.0.0.0 ${Array.from({ length: 300 }, (_, i) => `${i}.example`).join(' ')}`
    const lines = (count: number) => Array.from({ length: count }, () => line)
    const growth = await turnGrowth(lines, (some) => read('others', ...some), { from: 50, to: 800, times: 4 })
    expect(growth).to.be.at.most(2)
  })
})
