import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { tarComment, tarEnd, tarFile } from '../../src/lib/tar.ts'
import { readAll, refusalOf, shortly } from './support.ts'

const modified = new Date('2026-01-01T00:00:00Z')
const file = (name: string, ...lines: readonly object[]) =>
  tarFile({ name, content: Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')), modified })
const link = (id: number, more: object = {}) => ({
  error: 0,
  details: {
    id,
    shorturl: `https://go.example/a${id}`,
    longurl: 'https://example.com',
    title: 'T',
    description: '',
    location: { canada: 'https://c.example' },
    device: {},
    expiry: '2030-01-01 00:00:00',
    date: '2024-01-01 00:00:00',
    alias: `a${id}`,
    type: 'direct',
    domain: 'https://go.example',
    password: true,
    tags: ['one'],
    archived: false,
    status: 'active',
    max_clicks: 5,
    revision: 3,
    ...more,
  },
  data: { clicks: 7, uniqueClicks: 6, topCountries: 0 },
})
const linkOf = (id: number) => ({
  place: { id: String(id) },
  addresses: [{ host: 'go.example', alias: `a${id}` }],
  url: 'https://example.com',
  title: 'T',
  tags: ['one'],
  created: '2024-01-01T00:00:00.000Z',
  expiry: '2030-01-01T00:00:00.000Z',
  maxClicks: 5,
  password: 'unknown',
  targets: [{ kind: 'location', name: 'canada', url: 'https://c.example' }],
  clicks: 7,
  uniques: 6,
})

describe('an archive that this service has exported', () => {
  const parts = [
    file('README.txt'),
    file('account.json', { id: 1 }),
    file('links/000001.ndjson', link(1), link(2, { forward: true })),
    tarComment('this takes a while', modified),
    file('links/000002.ndjson', link(3)),
    file('qr/000001.ndjson', { id: 1 }),
    file('events/000001.ndjson', { id: 1 }),
    file('clicks/000001.ndjson', { id: 1 }),
  ]
  const manifest = file('manifest.json', { lines: { links: 3 } })

  it('has its links, and reports entries that are not read', async () => {
    const whole = Buffer.concat([...parts, manifest, tarEnd])
    const zone = { notice: 'no_zone', zone: 'UTC' }
    const expected = [
      zone,
      linkOf(1),
      { ...linkOf(2), fields: { forward: true } },
      linkOf(3),
      { notice: 'left_out', folder: 'qr' },
      { notice: 'left_out', folder: 'clicks' },
    ]
    expect(shortly(await readAll(gzipSync(whole)))).to.deep.equal(expected)
    for (const length of [100, 511, 513]) {
      const found = await readAll(whole, 'linkledger', { lengthOf: () => length })
      expect(shortly(found)).to.deep.equal(expected)
    }
  })

  it('has any number of folders, of which a hundred are named', async () => {
    const folders = Array.from({ length: 30_000 }, (_, n) => file(`folder${n}/x`))
    const found = await readAll(Buffer.concat([...parts, ...folders, manifest, tarEnd]))
    const notices = shortly(found).filter((one) => 'notice' in one)
    expect(notices).to.have.length(102)
    expect(notices.at(-1)).to.deep.equal({ notice: 'more', notices: 30_000 - 98 })
  })

  it('keeps fields as they are, names those that belong to that account alone, and has the clicks that count for `max_clicks`', async () => {
    const own = {
      ...{ title: 'Preview', metatitle: 'Preview', description: 'D', metadescription: 'P', notes: 'for me alone' },
      ...{ variants: [{ id: 3, url: 'https://v.example', weight: 2 }], browser: { chrome: 'https://b.example' } },
      ...{ type: 'frame', forward: 'path', parameters: [{ name: 'a', value: 'b' }], expired_url: 'https://e.example' },
    }
    const lines = [
      { ...link(1, own), data: { clicks: 507, uniqueClicks: 6, imported: 500, topCountries: { Germany: 3 } } },
      link(2, { type: 'splash-7', campaign: 4, pixels: [1], channels: [2], unframed: [{ url: 'https://u.example' }] }),
    ]
    const archive = Buffer.concat([file('links/000001.ndjson', ...lines), manifest, tarEnd])
    const [, first, second] = shortly(await readAll(archive))
    const { title: _, ...same } = linkOf(1)
    expect(first).to.deep.equal({
      ...same,
      ...{ description: 'D', clicks: 507, measured: 7 },
      fields: {
        ...{ metatitle: 'Preview', metadescription: 'P', notes: 'for me alone', type: 'frame', forward: 'path' },
        variants: [{ url: 'https://v.example', weight: 2 }],
        browsertarget: [{ browser: 'chrome', link: 'https://b.example' }],
        ...{ parameters: [{ name: 'a', value: 'b' }], expired_url: 'https://e.example' },
      },
    })
    expect(second).to.deep.equal({ ...linkOf(2), left: ['type', 'campaign', 'pixels', 'channels'] })
  })

  it('has texts as they are, also those that say nothing elsewhere', async () => {
    const texts = { metatitle: 'null', metadescription: 'No', notes: '0', expired_url: 'active' }
    const more = { ...texts, parameters: { a: '0' }, metaimage: ' ', forward: false, title: 'null', description: 'No' }
    const whole = Buffer.concat([file('links/000001.ndjson', link(1, more)), manifest, tarEnd])
    const [found] = (await readAll(whole, 'linkledger')).filter(({ kind }) => kind === 'link')
    expect(found).to.have.deep.property('fields', { ...texts, parameters: { a: '0' } })
  })

  it('says that it was cut when it has no manifest, or ends within a file', async () => {
    const records = shortly(await readAll(Buffer.concat([...parts, tarEnd])))
    expect(records.at(-1)).to.deep.equal({ notice: 'cut', records: 3 })
    const cut = Buffer.concat(parts).subarray(0, -600)
    expect(await refusalOf(readAll(cut))).to.equal('The body must be sent to its end.')
  })

  it('continues after an unreadable line', async () => {
    const broken = tarFile({ name: 'links/000001.ndjson', content: Buffer.from('{"details":\n[]\n'), modified })
    const found = shortly(await readAll(Buffer.concat([broken, parts[4]!, manifest, tarEnd])))
    expect(found).to.deep.equal([
      { place: { line: 1 }, problem: 'The row is not valid JSON.' },
      { place: { line: 2 }, problem: 'A row must be a JSON object.' },
      { notice: 'no_zone', zone: 'UTC' },
      linkOf(3),
    ])
  })
})
