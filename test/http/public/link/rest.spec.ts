import { expect } from 'chai'
import { pathIn, restOf, withRest, withValues } from '../../../../src/http/public/link/rest.ts'

describe('the rest of a path', () => {
  it('is the part after the alias, without query and fragment, and empty without such a part', () => {
    for (const [url, rest] of [
      ['/docs', ''],
      ['/docs/', ''],
      ['/docs?x=/y', ''],
      ['/docs/a/b.html?x=1#y', 'a/b.html'],
      ['/docs/a/', 'a/'],
      ['/docs/7', '7'],
      ['/docs/a%2Fb', 'a%2Fb'],
      ['/docs/...a/..b/c..', '...a/..b/c..'],
      ['/docs/50%', '50%25'],
      ['/docs/a"b<c>{d}\\e', 'a%22b%3Cc%3E%7Bd%7D%5Ce'],
      ['/docs/%C3%A9%e9', '%C3%A9%e9'],
    ] as const)
      expect(restOf(url), url).to.equal(rest)
    expect(pathIn('/old/page?x')).to.equal('old/page')
  })

  it('is never passed on when it leads up a folder, for any reader', () => {
    const dots = [
      '..',
      '.',
      '%2e%2e',
      '.%2E',
      '%2e',
      '%252e%252e',
      '%25252e.',
      '%25%32%65.',
      '..;x=1',
      '..%20',
      '..%00',
    ]
    const more = ['%c0%ae%c0%ae', '%e0%80%ae.', '%EF%BC%8E%EF%BC%8E', '%E2%80%A5', '.%E2%80%8B.', '%u002e%c0%ae']
    for (const up of [...dots, ...more])
      for (const url of [
        `/d/${up}`,
        `/d/a/${up}/b`,
        `/d/a%2F${up}%2fb`,
        `/d/a\\${up}\\b`,
        `/d/a%5C${up}`,
        `/d/a%252f${up}`,
      ])
        expect(restOf(url), url).to.equal(undefined)
    expect(restOf(`/d/%${'25'.repeat(10)}2e`), 'escapes without end').to.equal(undefined)
    expect(restOf(`/d/${'a'.repeat(2049)}`)).to.equal(undefined)
  })

  it('goes behind the path of a destination, before its query and fragment', () => {
    for (const [url, to] of [
      ['https://example.com/', 'https://example.com/a/b'],
      ['https://example.com/shop', 'https://example.com/shop/a/b'],
      ['https://example.com/shop/?x=1#y', 'https://example.com/shop/a/b?x=1#y'],
      ['https://example.com/?x=/y', 'https://example.com/a/b?x=/y'],
    ] as const)
      expect(withRest(url, 'a/b'), url).to.equal(to)
    expect(withRest('https://example.com/shop/?x', '')).to.equal('https://example.com/shop/?x')
  })

  it('goes into the placeholders of a destination instead, as it is in the path and escaped elsewhere', () => {
    const url = 'https://example.com/browse/%7Bpath%7D/x?at={path}&y=1#{path}'
    expect(withRest(url, 'a/%2F&b')).to.equal('https://example.com/browse/a/%2F&b/x?at=a%2F%2F%26b&y=1#a%2F%2F%26b')
    expect(withRest(url, '')).to.equal('https://example.com/browse//x?at=&y=1#')
  })

  it('can never change the host, the path of the owner or the other parameters', () => {
    for (const rest of [
      '@evil.example',
      '//evil.example',
      '\\evil.example',
      '?x=1',
      '#x',
      '&x=1',
      'a b',
      ':80',
      '{path}',
      '%7Bpath%7D',
    ])
      for (const url of [
        'https://example.com/',
        'https://example.com/shop?y=1#z',
        'https://example.com/{path}?x={path}',
      ]) {
        const clean = restOf(`/d/${rest.replaceAll(/[?#]/g, encodeURIComponent)}`)!
        const { host, pathname, searchParams } = new URL(withRest(url, clean))
        expect(host, rest).to.equal('example.com')
        expect(pathname.startsWith('/shop') || !url.includes('shop'), rest).to.equal(true)
        expect([...searchParams.keys()], rest).to.deep.equal([...new URL(url).searchParams.keys()])
      }
  })

  it('of a domain goes to its own pages with host and query, which lead up no folder either', () => {
    const values = { path: 'old/page', host: 'go.example.com', query: 'a=1&b=../..' }
    expect(withValues('https://example.com/{path}?from={host}&q={query}', values)).to.equal(
      'https://example.com/old/page?from=go.example.com&q=a%3D1%26b%3D..%2F..',
    )
    expect(withValues('https://example.com/%7Bhost%7D/%7Bquery%7D', { host: 'a.b', query: 'x/../..' })).to.equal(
      'https://example.com/a.b/',
    )
  })

  it('is put into the first four places only, and into none where the address gets longer than 8,192 characters', () => {
    const places = (count: number) => `https://example.com/?${'{query}'.repeat(count)}`
    const short = { query: '!' }
    expect(withValues(places(5), short)).to.equal('https://example.com/?%21%21%21%21{query}')
    expect(withRest(`https://example.com/?${'{path}'.repeat(5)}`, 'a')).to.equal('https://example.com/?aaaa{path}')
    expect(withValues(places(1), { query: '!'.repeat(2048) })).to.have.length(21 + 3 * 2048)
    for (const query of ['!'.repeat(2049), 'x'.repeat(16_000)])
      expect(withValues(places(1), { query })).to.equal('https://example.com/?')
    expect(withValues(places(280), { query: '!'.repeat(2048) })).to.equal(places(276))
  })
})
