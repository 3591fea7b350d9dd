import { expect } from 'chai'
import { readAll, refusalOf, shortly } from './support.ts'

const read = async (...given: Parameters<typeof readAll>) => shortly(await readAll(...given))
const json = (value: unknown) => JSON.stringify(value)

const kutt = {
  id: 'a1',
  address: 'x',
  target: 'https://example.com',
  link: 'https://kutt.it/x',
  domain: null,
  description: 'D',
  banned: false,
  password: true,
  expire_in: '2030-01-01T00:00:00.000Z',
  visit_count: 12,
  created_at: '2024-01-01T00:00:00.000Z',
  updated_at: '2024-01-01T00:00:00.000Z',
}
const kuttLink = {
  place: { id: 'a1' },
  addresses: [{ host: 'kutt.it', alias: 'x' }],
  url: 'https://example.com',
  description: 'D',
  created: '2024-01-01T00:00:00.000Z',
  expiry: '2030-01-01T00:00:00.000Z',
  password: 'unknown',
  clicks: 12,
  left: ['updated_at'],
}

describe('a JSON file with links', () => {
  it('has pages of the API of Kutt: one, several one after another or in lines, or an array of them', async () => {
    const page = json({ limit: 50, skip: 0, data: [kutt, { ...kutt, id: 'a2' }], total: 2 })
    const two = [kuttLink, { ...kuttLink, place: { id: 'a2' } }]
    expect(await read(page)).to.deep.equal(two)
    expect(await read(json(JSON.parse(page)).replaceAll(',', ',\n  '))).to.deep.equal(two)
    for (const text of [page + page, `${page}\n${page}\n`, `[${page},${page}]`])
      expect(await read(text), text).to.deep.equal([...two, ...two])
  })

  it('has links in lines, or in an array', async () => {
    const records = [kutt, { ...kutt, id: 'a2' }]
    for (const text of [records.map(json).join('\n'), json(records), records.map(json).join('\r\n')])
      expect(await read(text), text).to.deep.equal([kuttLink, { ...kuttLink, place: { id: 'a2' } }])
  })

  it('is of Bitly, also with control characters as they are', async () => {
    const link = {
      id: 'bit.ly/3Abc',
      link: 'https://bit.ly/3Abc',
      custom_bitlinks: ['https://bit.ly/Sale', 'https://go.example/Sale'],
      long_url: 'https://example.com',
      title: 'A B',
      archived: true,
      created_at: '2024-01-31T10:00:00+0000',
      tags: ['one'],
      deeplinks: [],
      references: { group: 'https://api-ssl.bitly.com/v4/groups/x' },
    }
    const text = json({ links: [link], pagination: { next: '', search_after: '' } }).replace('A B', 'A\tB\u0001')
    expect(await read(text)).to.deep.equal([
      {
        place: { id: 'bit.ly/3Abc' },
        addresses: [
          { host: 'bit.ly', alias: 'Sale' },
          { host: 'go.example', alias: 'Sale' },
          { host: 'bit.ly', alias: '3Abc' },
        ],
        url: 'https://example.com',
        title: 'A\tB\u0001',
        tags: ['one'],
        created: '2024-01-31T10:00:00.000Z',
        archived: true,
      },
    ])
  })

  it('is of Shlink, with its limits', async () => {
    const link = {
      shortCode: 'Ab',
      shortUrl: 'https://s.example/Ab',
      longUrl: 'https://example.com',
      dateCreated: '2024-02-01T12:00:00+01:00',
      tags: ['one'],
      meta: { validSince: '2024-03-01T00:00:00+00:00', validUntil: null, maxVisits: 9 },
      domain: null,
      title: null,
      crawlable: false,
      forwardQuery: true,
      visitsSummary: { total: 5, nonBots: 3, bots: 2 },
      hasRedirectRules: false,
    }
    expect(
      await read(json({ shortUrls: { data: [link], pagination: { currentPage: 1, pagesCount: 1 } } })),
    ).to.deep.equal([
      {
        place: { id: 'https://s.example/Ab' },
        addresses: [{ host: 's.example', alias: 'Ab' }],
        url: 'https://example.com',
        tags: ['one'],
        created: '2024-02-01T11:00:00.000Z',
        starts: '2024-03-01T00:00:00.000Z',
        maxClicks: 9,
        clicks: 3,
        left: ['forwardQuery'],
      },
    ])
  })

  it('is of Sink, with its targets', async () => {
    const link = {
      id: 'k1',
      slug: 'x',
      url: 'https://example.com',
      comment: 'C',
      apple: 'https://i.example',
      geo: { DE: 'https://d.example' },
      createdAt: 1_700_000_000,
      updatedAt: 1_700_000_000,
      expiration: 1_900_000_000,
      cloaking: true,
      tags: ['a'],
    }
    expect(await read(json({ links: [link], cursor: '', list_complete: true }))).to.deep.equal([
      {
        place: { id: 'k1' },
        addresses: [{ host: undefined, alias: 'x' }],
        url: 'https://example.com',
        description: 'C',
        tags: ['a'],
        created: '2023-11-14T22:13:20.000Z',
        expiry: '2030-03-17T17:46:40.000Z',
        targets: [
          { kind: 'device', name: 'ios', url: 'https://i.example' },
          { kind: 'location', name: 'DE', url: 'https://d.example' },
        ],
        left: ['updatedAt', 'cloaking'],
      },
    ])
  })

  it('is of GemPixel: a list, or a link with its targets and counts', async () => {
    const place = { place: { id: '7' }, addresses: [{ host: 'g.example', alias: 'x' }], url: 'https://example.com' }
    const list = {
      error: '0',
      data: {
        result: 1,
        perpage: 15,
        currentpage: 1,
        nextpage: null,
        maxpage: 1,
        urls: [
          {
            id: 7,
            alias: 'x',
            shorturl: 'https://g.example/x',
            longurl: 'https://example.com',
            clicks: 4,
            title: 'T',
            description: '',
            date: '2024-01-01 10:00:00',
          },
        ],
      },
    }
    expect(await read(json(list), 'gempixel', { timezone: 'America/New_York' })).to.deep.equal([
      { notice: 'no_zone', zone: 'America/New_York' },
      { ...place, title: 'T', created: '2024-01-01T15:00:00.000Z', clicks: 4 },
    ])
    const one = {
      error: 0,
      details: {
        id: 7,
        shorturl: 'https://g.example/x',
        longurl: 'https://example.com',
        title: '',
        location: { canada: 'https://c.example' },
        device: [],
        expiry: null,
        date: '2024-01-01T00:00:00Z',
      },
      data: { clicks: 4, uniqueClicks: 2, topCountries: { Canada: '4' }, topOs: 0, socialCount: { facebook: 0 } },
    }
    expect(await read(json(one), 'gempixel')).to.deep.equal([
      {
        ...place,
        created: '2024-01-01T00:00:00.000Z',
        targets: [{ kind: 'location', name: 'canada', url: 'https://c.example' }],
        clicks: 4,
        uniques: 2,
      },
    ])
  })

  it('is of YOURLS: the answer to `stats`', async () => {
    const link = {
      shorturl: 'https://y.example/x',
      url: 'https://example.com',
      title: 'T',
      timestamp: '2024-01-01 00:00:00',
      ip: '192.0.2.1',
      clicks: '5',
    }
    expect(
      await read(json({ links: { link_1: link, link_2: link }, stats: { total_links: '2' }, statusCode: 200 })),
    ).to.have.length(3)
  })

  it('continues after an unreadable value: no object, too deep, too long, no UTF-8', async () => {
    const deep = `{"id":"d","url":"u","a":${'['.repeat(70)}${']'.repeat(70)}}`
    const long = json({ id: 'l', url: 'u', title: 'x'.repeat(1024 * 1024) })
    const parts = [
      '[7,"x",null,[{"url":"u"}],',
      '{"id":"a","url":"u","title":"',
      '\xff',
      `"},${deep},${long},{"url":nope},{"url":"v"}]`,
    ]
    const found = await read(Buffer.from(parts.join('\n'), 'latin1'), 'csv')
    const object = 'A row must be a JSON object.'
    expect(found).to.deep.equal([
      ...Array.from({ length: 4 }, () => ({ place: { line: 1 }, problem: object })),
      { place: { line: 2 }, problem: 'The row must be valid UTF-8.' },
      { place: { line: 4 }, problem: 'A row must have at most 64 levels and 100,000 values.' },
      { place: { line: 4 }, problem: 'A row must be at most 1 MiB long.' },
      { place: { line: 4 }, problem: 'The row is not valid JSON.' },
      { place: { line: 4 }, addresses: [], url: 'v' },
    ])
  })

  it('continues with the next line where each is a record', async () => {
    const lines = ['{"id":1,"url":"u"}', '{"id":2,"url":"u', 'oops', '{"id":3,[}', '{"id":4,"url":"u"}']
    expect(await read(lines.join('\n'), 'csv')).to.deep.equal([
      { place: { id: '1' }, addresses: [], url: 'u' },
      ...[2, 3, 4].map((line) => ({ place: { line }, problem: 'The row is not valid JSON.' })),
      { place: { id: '4' }, addresses: [], url: 'u' },
    ])
  })

  it('says where it ends too early, and ends where it is no JSON', async () => {
    expect(await read('[{"url":"u"},\n{"url":"v', 'csv')).to.deep.equal([
      { place: { line: 1 }, addresses: [], url: 'u' },
      { place: { line: 2 }, problem: 'The file ends within this row.' },
    ])
    for (const text of ['[{"url":"u"}}', '{"data":[{"url":"u"]]}', '[] x'])
      expect(await refusalOf(read(text, 'csv')), text).to.equal('The row is not valid JSON.')
  })
})
