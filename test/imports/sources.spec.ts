import { expect } from 'chai'
import { type ApiFormat, type ApiRecord, readSource, type SourceOptions } from '../../src/imports/sources/read.ts'
import { refusalOf, shortly } from './support.ts'

interface Sent {
  readonly path: string
  readonly headers: Headers
  readonly body: string | undefined
}
type Answer = (url: URL, sent: Sent) => unknown

/** A server of another service, and what it was asked. */
const serviceOf = (answer: Answer) => {
  const asked: Sent[] = []
  const pauses: number[] = []
  const fetch = (async (input: URL, init: RequestInit) => {
    const sent = {
      path: `${input.pathname}${input.search}`,
      headers: new Headers(init.headers),
      body: init.body === undefined ? undefined : String(init.body as URLSearchParams),
    }
    asked.push(sent)
    const given = answer(input, sent)
    if (given instanceof Error) throw given
    return given instanceof Response ? given : Response.json(given)
  }) as typeof globalThis.fetch
  const pause = async (ms: number) => void pauses.push(ms)
  const read = async (format: ApiFormat, address = 'https://api.example/', options: Partial<SourceOptions> = {}) => {
    const found: ApiRecord[] = []
    const signal = new AbortController().signal
    const given = { timezone: 'UTC', fetch, signal, pause, ...options }
    for await (const record of readSource(format, new URL(address), 'k3y', given)) found.push(record)
    return found
  }
  return { asked, pauses, read, paths: () => asked.map(({ path }) => path) }
}
const named = (records: readonly ApiRecord[]) =>
  records.flatMap((record) =>
    record.kind === 'link' ? [[record.addresses[0]?.host, record.addresses[0]?.alias, record.after]] : [],
  )
const status = (code: number, headers: Readonly<Record<string, string>> = {}) =>
  new Response('', { status: code, headers })

/** Links of Kutt, as its version 3.2 answers them. */
const kuttLinks = (from: number, length: number) =>
  Array.from({ length }, (_, i) => ({
    id: `k${from + i}`,
    address: `a${from + i}`,
    banned: false,
    created_at: '2026-12-01T00:59:58.000Z',
    updated_at: '2026-12-01T00:59:58.000Z',
    password: false,
    description: null,
    // as SQLite stores it
    expire_in: i === 0 ? '2090-12-31 01:00:00' : null,
    target: 'https://example.com',
    visit_count: 1,
    domain: null,
    link: `https://k.example/a${from + i}`,
  }))

const startOf = (body: string | undefined) => Number(new URLSearchParams(body).get('start'))
/** An answer of YOURLS 1.10: without links it has no `links`. */
const yourlsAnswer = (start: number, length: number, total: number) => {
  const links = Array.from({ length }, (_, i) => [
    `link_${i + 1}`,
    {
      shorturl: `https://y.example/${start + i}`,
      url: 'https://example.com',
      title: '',
      timestamp: '2024-01-01 00:00:00',
      ip: '',
      clicks: 2,
    },
  ])
  const stats = { total_links: total, total_clicks: 2 * total }
  return {
    ...(length > 0 && { links: Object.fromEntries(links) as object }),
    ...{ stats, statusCode: '200', message: 'success' },
  }
}

describe('the API of another service', () => {
  it('of Bitly is read group by group, with archived links', async () => {
    const link = (id: string) => ({ id, link: `https://${id}`, long_url: 'https://example.com', archived: false })
    const { read, paths, asked } = serviceOf(({ pathname, searchParams }) => {
      if (pathname === '/v4/groups') return { groups: [{ guid: 'A' }, { guid: 'B' }] }
      const next = pathname.includes('/A/') && !searchParams.has('search_after')
      return {
        links: [link(next ? 'bit.ly/1' : pathname.includes('/A/') ? 'bit.ly/2' : 'bit.ly/3')],
        pagination: next ? { next: 'https://…', search_after: 's1' } : { next: '', search_after: '' },
      }
    })
    expect(named(await read('bitly'))).to.deep.equal([
      ['bit.ly', '1', '0:s1'],
      ['bit.ly', '2', '1:'],
      ['bit.ly', '3', undefined],
    ])
    expect(paths().filter((path) => path !== '/v4/groups')).to.deep.equal([
      '/v4/groups/A/bitlinks?size=100&archived=both',
      '/v4/groups/A/bitlinks?size=100&archived=both&search_after=s1',
      '/v4/groups/B/bitlinks?size=100&archived=both',
    ])
    expect(asked[0]?.headers.get('authorization')).to.equal('Bearer k3y')
    expect(named(await read('bitly', undefined, { after: '1:' }))).to.deep.equal([['bit.ly', '3', undefined]])
  })

  it('of Shlink has the rules and visits of each link, also below a path, and reports the rest', async () => {
    const link = (shortCode: string, more: object) => ({
      shortCode,
      shortUrl: `https://${shortCode === 'b' ? 's2' : 's'}.example/path/${shortCode}`,
      longUrl: 'https://example.com',
      dateCreated: '2024-02-01T12:00:00+01:00',
      domain: shortCode === 'b' ? 's2.example' : null,
      meta: { maxVisits: 10 },
      visitsSummary: { total: 2, nonBots: 1, bots: 1 },
      ...more,
    })
    const condition = (type: string, matchValue: string) => ({ type, matchKey: null, matchValue })
    const { read, paths } = serviceOf(({ pathname, searchParams }) => {
      if (pathname.endsWith('/redirect-rules'))
        return pathname.includes('/b/')
          ? status(404)
          : {
              defaultLongUrl: 'https://example.com',
              redirectRules: [
                { longUrl: 'https://a.example', priority: 1, conditions: [condition('device', 'android')] },
                { longUrl: 'https://d.example', priority: 2, conditions: [condition('language', 'de')] },
                {
                  longUrl: 'https://f.example',
                  priority: 3,
                  conditions: [condition('geolocation-country-code', 'FR')],
                },
                { longUrl: 'https://q.example', priority: 4, conditions: [condition('query-param', 'x')] },
              ],
            }
      if (pathname.endsWith('/visits')) {
        const page = Number(searchParams.get('page'))
        const date = `2024-03-0${3 - page}T00:00:00Z`
        const visit = {
          referer: page === 1 ? 'https://r.example' : '',
          date,
          userAgent: 'curl/8',
          potentialBot: true,
          visitLocation: page === 1 ? { countryCode: 'DE' } : null,
        }
        return { visits: { data: [visit], pagination: { pagesCount: 2, totalItems: 2 } } }
      }
      const page = Number(searchParams.get('page'))
      const data =
        page === 1
          ? [link('a', {}), link('c', { hasRedirectRules: false, visitsSummary: { total: 0 } })]
          : [link('b', {})]
      return { shortUrls: { data, pagination: { currentPage: page, pagesCount: 2 } } }
    })
    const found = await read('shlink', 'https://s.example/shlink')
    const visits = (alias: string, host = 's.example') => [
      {
        place: { id: `https://${host}/path/${alias}#2` },
        host,
        alias,
        at: '2024-03-02T00:00:00.000Z',
        referrer: 'https://r.example',
        userAgent: 'curl/8',
        country: 'DE',
      },
      {
        place: { id: `https://${host}/path/${alias}#1` },
        host,
        alias,
        at: '2024-03-01T00:00:00.000Z',
        userAgent: 'curl/8',
      },
    ]
    const linkOf = (alias: string, host = 's.example') => ({
      place: { id: `https://${host}/path/${alias}` },
      addresses: [{ host, alias }],
      url: 'https://example.com',
      created: '2024-02-01T11:00:00.000Z',
      maxClicks: 10,
      measured: alias === 'c' ? 0 : 2,
    })
    expect(shortly(found)).to.deep.equal([
      {
        ...linkOf('a'),
        targets: [
          { kind: 'device', name: 'android', url: 'https://a.example' },
          { kind: 'language', name: 'de', url: 'https://d.example' },
          { kind: 'location', name: 'FR', url: 'https://f.example' },
        ],
        left: ['redirectRules'],
      },
      ...visits('a'),
      { ...linkOf('c'), after: '2' },
      linkOf('b', 's2.example'),
      ...visits('b', 's2.example'),
    ])
    expect(paths()[0]).to.equal('/shlink/rest/v3/short-urls?page=1&itemsPerPage=100&orderBy=dateCreated-ASC')
    expect(paths().at(-1)).to.match(
      /^\/shlink\/rest\/v3\/short-urls\/b\/visits\?domain=s2\.example&endDate=[^&]+&page=2&itemsPerPage=300$/,
    )
  })

  it('of Kutt, YOURLS and Rebrandly is read page by page, and from a page on', async () => {
    const kutt = serviceOf(({ searchParams }) => {
      const skip = Number(searchParams.get('skip'))
      return { total: 60, limit: 50, skip, data: kuttLinks(skip, Math.min(50, 60 - skip)) }
    })
    const all = named(await kutt.read('kutt'))
    expect(all).to.have.length(60)
    expect(all[49]).to.deep.equal(['k.example', 'a49', '50'])
    expect(named(await kutt.read('kutt', undefined, { after: '50' }))).to.deep.equal(all.slice(50))
    expect(kutt.asked[0]?.headers.get('x-api-key')).to.equal('k3y')

    const yourls = serviceOf((_, { body }) => yourlsAnswer(startOf(body), startOf(body) === 0 ? 5000 : 1, 5001))
    const links = await yourls.read('yourls', 'https://y.example/sub')
    expect(named(links)).to.have.length(5001)
    expect(shortly(links).at(-1)).to.deep.equal({
      place: { id: 'https://y.example/5000' },
      addresses: [{ host: 'y.example', alias: '5000' }],
      url: 'https://example.com',
      created: '2024-01-01T00:00:00.000Z',
      clicks: 2,
    })
    // the key is in no address
    expect(yourls.paths()).to.deep.equal(['/sub/yourls-api.php', '/sub/yourls-api.php'])
    expect(yourls.asked[0]?.body).to.contain('signature=k3y&action=stats')

    const rebrandly = serviceOf(({ searchParams }) => {
      const isFirst = !searchParams.has('last')
      return Array.from({ length: isFirst ? 25 : 2 }, (_, i) => ({
        id: `${isFirst ? 'a' : 'b'}${i}`,
        slashtag: `${isFirst ? 'a' : 'b'}${i}`,
        destination: 'https://example.com',
        domain: { fullName: 'rebrand.ly' },
        tags: [{ id: 1, name: 'T', color: 'red' }],
      }))
    })
    expect(named(await rebrandly.read('rebrandly')).slice(24, 26)).to.deep.equal([
      ['rebrand.ly', 'a24', 'a24'],
      ['rebrand.ly', 'b0', undefined],
    ])
    expect(rebrandly.paths()[1]).to.equal('/v1/links?orderBy=createdAt&orderDir=desc&limit=25&last=a24')
  })

  it('of YOURLS ends behind a full page, where its answer has no list', async () => {
    const { read, asked } = serviceOf((_, { body }) =>
      yourlsAnswer(startOf(body), startOf(body) === 0 ? 5000 : 0, 5000),
    )
    expect(named(await read('yourls'))).to.have.length(5000)
    expect(asked).to.have.length(2)
    const other = serviceOf(() => ({ message: 'success' }))
    expect(await refusalOf(other.read('yourls'))).to.contain('The answer has no list of links')
  })

  it('is read once where its pages overlap, and it is said that it has more links than it has listed', async () => {
    const yourls = serviceOf((_, { body }) => {
      const start = startOf(body)
      return start === 0 ? yourlsAnswer(0, 5000, 5010) : yourlsAnswer(start - 4, 10, 5010)
    })
    const found = await yourls.read('yourls')
    expect(named(found)).to.have.length(5006)
    expect(found.filter(({ kind }) => kind === 'notice').slice(-1)).to.deep.equal([
      { kind: 'notice', notice: 'unlisted', params: { links: 5010, listed: 5006 } },
    ])

    // a link was added after the first page
    const kutt = serviceOf(({ searchParams }) => {
      const skip = Number(searchParams.get('skip'))
      return skip === 0 ? { total: 60, data: kuttLinks(0, 50) } : { total: 61, data: kuttLinks(skip - 1, 11) }
    })
    const ids = named(await kutt.read('kutt')).map(([, alias]) => alias)
    expect([ids.length, new Set(ids).size]).to.deep.equal([60, 60])
  })

  it('of Short.io is read domain by domain, and of GemPixel link by link', async () => {
    const shortio = serviceOf(({ pathname, searchParams }) => {
      if (pathname === '/api/domains')
        return [
          { id: 1, hostname: 'A.example' },
          { id: 2, hostname: 'b.example' },
        ]
      const isFirst = searchParams.get('domain_id') === '1' && !searchParams.has('pageToken')
      const links = [{ idString: 'l', path: isFirst ? '' : 'x', originalURL: 'https://example.com' }]
      return isFirst ? { links, count: 1, nextPageToken: 't' } : { links, count: 1, nextPageToken: null }
    })
    expect(named(await shortio.read('shortio'))).to.deep.equal([
      ['a.example', '', '0:t'],
      ['a.example', 'x', '1:'],
      ['b.example', 'x', undefined],
    ])
    const gempixel = serviceOf(({ pathname, searchParams }) => {
      if (pathname === '/api/url/2') return status(404)
      if (pathname !== '/api/urls')
        return {
          error: 0,
          details: { id: 1, expiry: '2030-01-01 00:00:00', device: { iphone: 'https://i.example' }, location: [] },
          data: { clicks: 5, uniqueClicks: 4 },
        }
      const id = Number(searchParams.get('page'))
      const urls = [{ id, alias: 'x', shorturl: `https://g.example/${id}`, longurl: 'https://example.com', clicks: 5 }]
      return { error: '0', data: { maxpage: 2, urls } }
    })
    const found = shortly(await gempixel.read('gempixel'))
    expect(found.slice(1)).to.deep.equal([
      {
        place: { id: '1' },
        addresses: [
          { host: 'g.example', alias: 'x' },
          { host: 'g.example', alias: '1' },
        ],
        url: 'https://example.com',
        expiry: '2030-01-01T00:00:00.000Z',
        targets: [{ kind: 'device', name: 'iphone', url: 'https://i.example' }],
        clicks: 5,
        uniques: 4,
        after: '2',
      },
      {
        place: { id: '2' },
        addresses: [
          { host: 'g.example', alias: 'x' },
          { host: 'g.example', alias: '2' },
        ],
        url: 'https://example.com',
        clicks: 5,
      },
    ])
    // 30 requests a minute
    expect(gempixel.pauses.every((ms) => ms > 1000 && ms <= 2000)).to.equal(true)
    expect(gempixel.pauses).to.have.length(3)
  })

  it('is asked again when it is busy or not there for a while, no sooner than it says', async () => {
    const answers = [status(429, { 'Retry-After': '7' }), new Error('gone'), status(503), { total: 0, data: [] }]
    const { read, pauses } = serviceOf(() => answers.shift())
    expect(await read('kutt')).to.deep.equal([])
    expect(pauses).to.deep.equal([7000, 4000, 8000])
  })

  it('ends the reading with a sentence when it cannot be asked, or is none', async () => {
    const sentences = async (answer: Answer) => refusalOf(serviceOf(answer).read('kutt'))
    const fetched = '`address` could not be fetched: its server'
    expect(await sentences(() => status(401))).to.equal(`${fetched} responded with status 401.`)
    expect(await sentences(() => status(500))).to.equal(`${fetched} responded with status 500.`)
    expect(await sentences(() => new Error('gone'))).to.equal(`${fetched} could not be reached.`)
    expect(await sentences(() => status(301, { Location: 'https://evil.example' }))).to.equal(
      '`address` must not redirect: send the address that it redirects to.',
    )
    const list = 'The answer has no list of links: is this the address of the API?'
    for (const body of ['<html>', '{}', '{"data":{}}', `{"data":${'['.repeat(100)}${']'.repeat(100)}}`])
      expect(await sentences(() => new Response(body)), body).to.equal(list)
    expect(await sentences(() => new Response(Buffer.alloc(17 * 1024 * 1024)))).to.equal(
      '`address` must be at most 16 MiB large.',
    )
    expect(
      await refusalOf(serviceOf(() => [...Array(25)].map(() => ({ id: 'same', destination: 'u' }))).read('rebrandly')),
    ).to.equal(list)
  })

  it('gets no more requests once the client has disconnected', async () => {
    const stopped = new AbortController()
    const { read, asked } = serviceOf(() => {
      stopped.abort(new Error('stopped'))
      return new Error('gone')
    })
    const error = await read('kutt', undefined, { signal: stopped.signal }).catch((reason: unknown) => reason)
    expect(error).to.have.property('message', 'stopped')
    expect(asked).to.have.length(1)
  })
})
