import { expect } from 'chai'
import { readAll, refusalOf, shortly } from './support.ts'

const read = async (...given: Parameters<typeof readAll>) => shortly(await readAll(...given))

describe('a table of links', () => {
  it('is read as Bitly exports it: from its pages, and from its API', async () => {
    expect(
      await read(
        'Link,Custom Link,Destination URL\nhttps://bit.ly/3Abc,https://go.acme.example/Sale,https://example.com/a\nhttps://bit.ly/3Abd,,https://example.com/b\n',
      ),
    ).to.deep.equal([
      {
        place: { line: 2 },
        addresses: [
          { host: 'go.acme.example', alias: 'Sale' },
          { host: 'bit.ly', alias: '3Abc' },
        ],
        url: 'https://example.com/a',
      },
      { place: { line: 3 }, addresses: [{ host: 'bit.ly', alias: '3Abd' }], url: 'https://example.com/b' },
    ])
    expect(
      await read(
        'long_url,link,title,created_at,archived,tags,clicks\nhttps://example.com/a,https://bit.ly/x,"A, b",2024-01-31T10:00:00+0000,false,"one,two",12\n',
      ),
    ).to.deep.equal([
      {
        place: { line: 2 },
        addresses: [{ host: 'bit.ly', alias: 'x' }],
        url: 'https://example.com/a',
        title: 'A, b',
        created: '2024-01-31T10:00:00.000Z',
        tags: ['one', 'two'],
        clicks: 12,
      },
    ])
  })

  it('is read as Dub exports it, with fields without a counterpart by name', async () => {
    expect(
      await read(
        'Short link,Destination URL,Clicks,Created at,Leads,Conversions,Link ID,Archived\nhttps://dub.sh/try,https://dub.co,7,2024-05-01T00:00:00.000Z,3,0,link_1,Yes\n',
      ),
    ).to.deep.equal([
      {
        place: { line: 2 },
        addresses: [{ host: 'dub.sh', alias: 'try' }],
        url: 'https://dub.co',
        clicks: 7,
        created: '2024-05-01T00:00:00.000Z',
        archived: true,
        left: ['Leads'],
      },
    ])
  })

  it('is read as Shlink and its importer have it', async () => {
    expect(
      await read(
        'createdAt,domain,shortCode,shortUrl,longUrl,title,tags,visits\n2024-02-01T12:00:00+01:00,DEFAULT,Ab/c,https://s.example/Ab/c,https://example.com,,one|two,3\n',
      ),
    ).to.deep.equal([
      {
        place: { line: 2 },
        addresses: [{ host: 's.example', alias: 'Ab/c' }],
        url: 'https://example.com',
        tags: ['one', 'two'],
        created: '2024-02-01T11:00:00.000Z',
        clicks: 3,
      },
    ])
    expect(
      await read('Long URL;Short code;Domain;Title;Tags\nhttps://example.com;abc;s.example;T;a|b\n'),
    ).to.deep.equal([
      {
        place: { line: 2 },
        addresses: [{ host: 's.example', alias: 'abc' }],
        url: 'https://example.com',
        title: 'T',
        tags: ['a', 'b'],
      },
    ])
  })

  it('is read as Rebrandly, Short.io, TinyURL, tiny.cc and YOURLS have it', async () => {
    const address = { place: { line: 2 }, url: 'https://example.com/a' }
    expect(
      await read('Domain,Slashtag,Destination,Title,Clicks\nrebrand.ly,x,https://example.com/a,T,4\n'),
    ).to.deep.equal([{ ...address, addresses: [{ host: 'rebrand.ly', alias: 'x' }], title: 'T', clicks: 4 }])
    expect(
      await read(
        'originalURL,path,domain,title,clicks,createdAt,tags,iphoneURL,androidURL,expiresAt\nhttps://example.com/a,,go.example,,,1700000000000,,https://i.example,https://a.example,2030-01-01T00:00:00Z\n',
      ),
    ).to.deep.equal([
      {
        ...address,
        addresses: [{ host: 'go.example', alias: '' }],
        created: '2023-11-14T22:13:20.000Z',
        expiry: '2030-01-01T00:00:00.000Z',
        targets: [
          { kind: 'device', name: 'iphone', url: 'https://i.example' },
          { kind: 'device', name: 'android', url: 'https://a.example' },
        ],
      },
    ])
    expect(await read('tiny_url,url,hits\nhttps://tinyurl.com/x,https://example.com/a,1\n')).to.deep.equal([
      { ...address, addresses: [{ host: 'tinyurl.com', alias: 'x' }], clicks: 1 },
    ])
    expect(await read('"url";"short_id";"note"\n"https://example.com/a";"x";"N"\n')).to.deep.equal([
      { ...address, addresses: [{ host: undefined, alias: 'x' }], description: 'N' },
    ])
    expect(await read('source,target,hits\n/x/,https://example.com/a,9\n')).to.deep.equal([
      { ...address, addresses: [{ host: undefined, alias: 'x' }], clicks: 9 },
    ])
  })

  it('has any header: names of any spelling, any separator, a mark of UTF-8 or UTF-16, and `sep=`', async () => {
    const link = { place: { line: 2 }, addresses: [{ host: undefined, alias: 'x' }], url: 'https://example.com' }
    expect(await read('\ufeffALIAS;Long_URL\r\nx;https://example.com\r\n')).to.deep.equal([link])
    expect(await read('Alias\t"Target URL"\rx\thttps://example.com')).to.deep.equal([link])
    const utf16 = Buffer.from('\ufeffalias\turl\nx\thttps://example.com\n', 'utf16le')
    expect(await read(utf16)).to.deep.equal([link])
    expect(await read('sep=;\nalias;url\nx;https://example.com\n')).to.deep.equal([{ ...link, place: { line: 3 } }])
  })

  it('has columns that are named by hand, and names those that are not known', async () => {
    const columns = { url: 'Ziel', alias: 'Kürzel' }
    expect(await read('Kürzel,Ziel,Abteilung\nx,https://example.com,QA\n', 'auto', { columns })).to.deep.equal([
      { notice: 'unknown_column', column: 'Abteilung' },
      { place: { line: 2 }, addresses: [{ host: undefined, alias: 'x' }], url: 'https://example.com' },
    ])
  })

  it('has any number of columns, of which a hundred that are not known are named, and notices of other kinds', async () => {
    const names = Array.from({ length: 500 }, (_, n) => `wish${n}`)
    const row = ['https://x.example', '2024-01-01', ...names]
    const found = shortly(await readAll(`url,created,${names.join(',')}\n${row.join(',')}\n`)).filter(
      (one) => 'notice' in one,
    )
    expect(found).to.have.length(102)
    expect(found.slice(-2)).to.deep.equal([
      { notice: 'no_zone', zone: 'UTC' },
      { notice: 'more', notices: 400 },
    ])
    const line = (n: number) => JSON.stringify({ kind: 'notice', notice: 'left_out', params: { folder: `f${n}` } })
    const lines = Array.from({ length: 500 }, (_, n) => line(n)).join('\n')
    expect(shortly(await readAll(lines, 'records')).at(-1)).to.deep.equal({ notice: 'more', notices: 400 })
  })

  it('continues after each unreadable row, and names its line', async () => {
    const invalid = Buffer.concat([Buffer.from('alias,url\nx,https://'), Buffer.from([0xff, 10]), Buffer.from('y,u\n')])
    expect(await read(invalid)).to.deep.equal([
      { place: { line: 2 }, problem: 'The row must be valid UTF-8.' },
      { place: { line: 3 }, addresses: [{ host: undefined, alias: 'y' }], url: 'u' },
    ])
    const rows = ['a,b,c', 'b"c,d', 'c,', 'd,"u\0v"', '"e\nf",u', 'g,u,', '"h,u', ' , ', 'i,u']
    expect(await read(`alias,url\n${rows.join('\n')}\n`)).to.deep.equal([
      {
        place: { line: 2 },
        problem: 'The row has 3 cells, but the header has 2: put a cell that contains the separator into quotes.',
      },
      {
        place: { line: 3 },
        problem:
          'The body is not CSV in line 3: put a cell with quotes, separators or line breaks into quotes, and double the quotes in it.',
      },
      { place: { line: 4 }, problem: '`url` is required.' },
      { place: { line: 5 }, problem: '`url` must not contain NUL characters or lone surrogates.' },
      { place: { line: 6 }, addresses: [{ host: undefined, alias: 'e\nf' }], url: 'u' },
      {
        place: { line: 8 },
        problem: 'The row has 3 cells, but the header has 2: put a cell that contains the separator into quotes.',
      },
      {
        place: { line: 9 },
        problem:
          'The body is not CSV in line 9: put a cell with quotes, separators or line breaks into quotes, and double the quotes in it.',
      },
      { place: { line: 11 }, addresses: [{ host: undefined, alias: 'i' }], url: 'u' },
    ])
  })

  it('has rows of at most 1 MiB, and continues after a longer one', async () => {
    const long = 'x'.repeat(1024 * 1024)
    const problem = 'A row must be at most 1 MiB long.'
    const last = { addresses: [{ host: undefined, alias: 'z' }], url: 'u' }
    expect(await read(`alias,url\n${long},u\nz,u\n`)).to.deep.equal([
      { place: { line: 2 }, problem },
      { place: { line: 3 }, ...last },
    ])
    const line = `${'y'.repeat(98)},u\n`
    expect(await read(`alias,url\n"${line.repeat(11_000)}z,u`)).to.have.length(11_001)
    const many = Array.from({ length: 1001 }, (_, i) => `c${i}`).join()
    expect(await refusalOf(read(`url,${many}\n`))).to.equal('The header must have at most 1000 cells; it has 1,002.')
  })

  it('reads values as they are meant, and names those that are not', async () => {
    const header = 'url,created,expiry,clicks,archived,password,max clicks'
    const rows = [
      'u,2024-01-31,2024-01-31,"1,234",TRUE,s3,5',
      'u,2024-07-01 10:00,2024-07-01 10:00:00 +0200,,no,TRUE,',
      'u,yesterday,,,,,',
      'u,,,many,,,',
      'u,,,,maybe,,',
      'u,0000-00-00 00:00:00,,0,0,********,0',
    ]
    const read = await readAll(`${header}\n${rows.join('\n')}\n`, 'csv', { timezone: 'Europe/Berlin' })
    expect(shortly(read)).to.deep.equal([
      { notice: 'no_zone', zone: 'Europe/Berlin' },
      {
        place: { line: 2 },
        addresses: [],
        url: 'u',
        created: '2024-01-30T23:00:00.000Z',
        expiry: '2024-01-31T22:59:59.000Z',
        clicks: 1234,
        archived: true,
        password: { clear: 's3' },
        maxClicks: 5,
      },
      {
        place: { line: 3 },
        addresses: [],
        url: 'u',
        created: '2024-07-01T08:00:00.000Z',
        expiry: '2024-07-01T08:00:00.000Z',
        password: 'unknown',
      },
      {
        ...{ place: { line: 4 }, addresses: [], url: 'u' },
        notes: [
          'Left out: `created` must be a date and time in UTC, for example 2030-01-31 18:00:00, or a day, for example 2030-01-31.',
        ],
      },
      {
        ...{ place: { line: 5 }, addresses: [], url: 'u' },
        notes: ['Left out: `clicks` must be a whole number.'],
      },
      { place: { line: 6 }, problem: '`archived` must be true or false.' },
      { place: { line: 7 }, addresses: [], url: 'u', clicks: 0, password: 'unknown' },
    ])
  })

  it('says that an export was cut which ends where its service ends them', async () => {
    const rows = (count: number) => 'long_url,link\n' + 'https://example.com,https://bit.ly/x\n'.repeat(count)
    expect(shortly(await readAll(rows(1000))).at(-1)).to.deep.equal({ notice: 'cut', records: 1000 })
    for (const count of [999, 1001]) expect(shortly(await readAll(rows(count))).at(-1)).to.have.property('url')
  })

  it('is refused with a sentence when it is none of the formats', async () => {
    const none = 'The file has none of the formats that can be imported: name its format, or its columns.'
    const table = 'The file has no column with destinations: name it, for example `url`.'
    for (const text of ['', 'a,b\n1,2\n', '\0\0\0', '%PDF-1.4', '{"a":1}'])
      expect(await refusalOf(read(text)), text).to.equal(none)
    for (const text of ['', 'a,b\n1,2\n']) expect(await refusalOf(read(text, 'csv')), text).to.equal(table)
  })
})

describe('the address of a link', () => {
  const addressesOf = async (text: string) =>
    (await readAll(text, 'csv')).map((record) => (record.kind === 'link' ? record.addresses : record))

  it('is that of a short URL, decoded, or an alias and its domain', async () => {
    const rows = [
      ['https://Bit.ly/a%20b?x#y', ''],
      ['bit.ly/a/b', ''],
      ['//bit.ly', ''],
      ['https://bit.ly/%', ''],
      ['a.b', ''],
      ['/a/', ''],
      ['a', 'https://Go.example/'],
      ['a', '7'],
      ['', 'go.example'],
    ]
    expect(await addressesOf(`url,link,domain\n${rows.map((row) => ['u', ...row].join()).join('\n')}\n`)).to.deep.equal(
      [
        [{ host: 'bit.ly', alias: 'a b' }],
        [{ host: 'bit.ly', alias: 'a/b' }],
        [{ host: 'bit.ly', alias: '' }],
        [{ host: 'bit.ly', alias: '%' }],
        [{ host: undefined, alias: 'a.b' }],
        [{ host: undefined, alias: 'a' }],
        [{ host: 'go.example', alias: 'a' }],
        [{ host: undefined, alias: 'a' }],
        [],
      ],
    )
  })

  it('comes once where several columns have it', async () => {
    const text =
      'url,alias,domain,short url,custom link\nu,a,go.example,https://go.example/a,https://x.example/a;x.example/b\n'
    expect(await addressesOf(text)).to.deep.equal([
      [
        { host: 'go.example', alias: 'a' },
        { host: 'x.example', alias: 'a' },
        { host: 'x.example', alias: 'b' },
      ],
    ])
  })
})

describe('counts and dates of a table', () => {
  it('are read as spreadsheets write them, and left out with a note where they cannot be read', async () => {
    const records = await readAll(
      [
        'url,clicks,unique clicks,created,expires,max clicks',
        'https://example.com/1,12.0,"1,234",2020-01-02T00:00:00Z,never,n/a',
        'https://example.com/2,n/a,-,never,-,',
        'https://example.com/3,1.234,x,"Jan 1, 2020",,',
        'https://example.com/4,1,1,,someday,',
      ].join('\n'),
      'csv',
    )
    const place = (line: number) => ({ addresses: [], place: { line }, url: `https://example.com/${line - 1}` })
    expect(shortly(records)).to.deep.equal([
      { ...place(2), clicks: 12, uniques: 1234, created: '2020-01-02T00:00:00.000Z' },
      place(3),
      {
        ...place(4),
        notes: [
          'Left out: `clicks` must be a whole number.',
          'Left out: `created` must be a date and time in UTC, for example 2030-01-31 18:00:00, or a day, for example 2030-01-31.',
          'Left out: `unique clicks` must be a whole number.',
        ],
      },
      // without an end, the link would be open longer than it was
      {
        place: { line: 5 },
        problem:
          '`expires` must be a date and time in UTC, for example 2030-01-31 18:00:00, or a day, for example 2030-01-31.',
      },
    ])
  })

  it('mean no end where they are the last day that databases know, in any zone, and are refused where they are none', async () => {
    const never = [
      ...['9999-12-31', '9999-12-31 23:59:59', '9999/12/31 00:00:00', '9999-12-31T23:59:59-08:00'],
      ...['253402300799', '253402300800', '253402300799000', '253402300800000'],
    ]
    const others = ['9999-12-30 23:59:59', '9999-12-30T23:59:59-08:00', '999999999999999', '0001-01-01T00:00:00+08:00']
    const csv = ['url,expires', ...[...never, ...others].map((end) => `https://example.com,${end}`)].join('\n')
    for (const timezone of ['America/Los_Angeles', 'Asia/Tokyo', 'UTC']) {
      const found = shortly((await readAll(csv, 'csv', { timezone })).filter(({ kind }) => kind !== 'notice'))
      for (const one of found.slice(0, never.length))
        expect(one)
          .to.include({ url: 'https://example.com' })
          .and.to.deep.include({ notes: ['Its end, the last day of the year 9999, means that it has none.'] })
          .and.not.to.have.property('expiry')
      const [first, second, ...refused] = found.slice(never.length)
      for (const one of [first, second])
        expect(one)
          .to.have.property('expiry')
          .that.matches(/^9999-12-3\d/)
      for (const one of refused)
        expect(one)
          .to.have.property('problem')
          .that.matches(/^`expires` must be a date/)
    }
  })

  it('are refused, or left out with a note, where their zone makes another year of them than four digits have', async () => {
    const csv = 'url,starts,created\nu,253402300800,\nu,9999-12-31T23:59:59-08:00,\nu,,9999-12-31T23:59:59-08:00\n'
    const [first, second, third] = shortly(await readAll(csv, 'csv'))
    for (const one of [first, second])
      expect(one)
        .to.have.property('problem')
        .that.matches(/^`starts` must be a date/)
    expect(third).to.have.property('notes').that.has.length(1)
  })
})
