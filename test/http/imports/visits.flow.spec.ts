import { expect } from 'chai'
import { createHash } from 'node:crypto'
import type { FoundImport } from '../../../src/http/imports/contract.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { browser, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'

type Own = Awaited<ReturnType<TestApp['register']>>
type Details = FoundImport['details']

interface Visit {
  readonly alias: string
  readonly at: string
  readonly agent?: string
  readonly address?: string
}
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** A dump as mysqldump writes it: the table of the log comes before that of the links. */
const dumpOf = (
  links: readonly (readonly [alias: string, clicks: number])[],
  visits: readonly Visit[],
) => `-- MySQL dump 10.13
CREATE TABLE \`yourls_log\` (
  \`click_id\` int NOT NULL,
  \`click_time\` datetime NOT NULL,
  \`shorturl\` varchar(100) NOT NULL,
  \`referrer\` varchar(200) NOT NULL,
  \`user_agent\` varchar(255) NOT NULL,
  \`ip_address\` varchar(41) NOT NULL,
  \`country_code\` char(2) NOT NULL
);
INSERT INTO \`yourls_log\` VALUES ${visits
  .map(
    ({ alias, at, agent = browser, address = '192.0.2.1' }, n) =>
      `(${n + 1},${quoted(at)},${quoted(alias)},'direct',${quoted(agent)},${quoted(address)},'FR')`,
  )
  .join(',')};
INSERT INTO \`yourls_url\` VALUES ${links
  .map(
    ([alias, clicks]) =>
      `(${quoted(alias)},'https://example.com/${alias}','T','2019-01-01 00:00:00','192.0.2.9',${clicks})`,
  )
  .join(',')};
`

describe('single visits of another service', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
  })
  after(() => app.close())

  const ended = (own: Own, id: string) =>
    until(
      async () => (await app.get(`/api/import/${id}`, own)).json['details'] as Details,
      ({ state }) => !['checking', 'running', 'undoing'].includes(state),
      150_000,
    )
  const send = (own: Own, body: string, options = 'format=yourls') =>
    app.post(`/api/import?${options}`, { ...own, body, headers: { 'Content-Type': 'application/sql' } })
  const bring = async (own: Own, body: string, options?: string) =>
    ended(own, (await send(own, body, options)).json['id'] as string)
  const details = async (own: Own, alias: string) => {
    const { json } = await app.get(`/api/urls?short=${alias}`, own)
    const { id } = json['details'] as { id: number }
    return (await app.get(`/api/url/${id}`, own)).json as { details: { id: number }; data: Record<string, number> }
  }
  const seriesOf = async (own: Own, id: number, query: string) =>
    (await app.get(`/api/url/${id}/stats?interval=month&from=2018-01-01&${query}`, own)).json['data'] as {
      total: { clicks: number; uniqueClicks: number; visits: number }
      series: { at: string; clicks: number }[]
    }
  const visits: readonly Visit[] = [
    ...Array.from({ length: 30 }, (_, i) => ({
      alias: 'old',
      at: `20${19 + (i % 3)}-03-0${1 + (i % 9)} 10:00:00`,
      address: `192.0.2.${1 + (i % 5)}`,
    })),
    { alias: 'old', at: '2020-05-05 10:00:00', agent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' },
    { alias: 'young', at: '2021-05-05 10:00:00' },
    { alias: 'gone', at: '2021-05-05 10:00:00' },
    { alias: 'young', at: '2099-05-05 10:00:00' },
    { alias: 'young', at: '1990-05-05 10:00:00' },
  ]

  it('are in the statistics of their years, with the totals of the source', async () => {
    const own = await app.register()
    const done = await bring(
      own,
      dumpOf(
        [
          ['old', 40],
          ['young', 3],
        ],
        visits,
      ),
    )
    expect(done, JSON.stringify(done)).to.include({ state: 'done', created: 2 })
    const { details: old, data } = await until(
      () => details(own, 'old'),
      (found) => found.data['clicks'] === 39,
    )
    // 30 visits by people, one by a bot, and nine that were only counted
    expect(data).to.include({ clicks: 39, imported: 9 })
    const { total, series } = await seriesOf(own, old.id, '')
    expect(total).to.include({ clicks: 30, uniqueClicks: 5, visits: 31 })
    const years: Record<string, number> = {}
    for (const { at, clicks } of series) if (clicks > 0) years[at.slice(0, 4)] = (years[at.slice(0, 4)] ?? 0) + clicks
    expect(years).to.deep.equal({ 2019: 10, 2020: 10, 2021: 10 })
    const said = done.notes.map(({ message }) => message)
    expect(said).to.include.members([
      '32 single visits are imported.',
      '1 visits are left out: this import has created no link at their address.',
      '1 visits are left out: they are in the future.',
      '1 visits are left out: they are from before 1995.',
    ])
    expect((await app.get(`/api/visits?link=${old.id}&limit=100&from=2018-01-01`, own)).json['data']).to.include({
      result: 31,
    })
  })

  it('are not there a second time when the dump comes again, and not at a moment before', async () => {
    const own = await app.register()
    const before = (await app.get('/api/account', own)).headers.get('Linkledger-At') ?? ''
    const dump = dumpOf(
      [['again', 30]],
      visits.map((visit) => ({ ...visit, alias: 'again' })),
    )
    await bring(own, dump)
    const first = await until(
      () => details(own, 'again'),
      ({ data }) => (data['clicks'] ?? 0) > 30,
    )
    expect(await bring(own, dump)).to.include({ created: 0, existing: 1 })
    expect(await details(own, 'again')).to.deep.equal(first)
    const { json } = await app.get(
      `/api/account/stats?interval=month&from=2018-01-01&at=${encodeURIComponent(before)}`,
      own,
    )
    expect(json['data'].total).to.include({ clicks: 0, visits: 0 })
  })

  it('given links of a dump that differ in letter case alone, when a domain with exact aliases is named, then each has its own', async () => {
    const own = await app.register()
    await app.post('/api/domain/add', { ...own, body: { domain: 'https://y.example', aliases: 'exact' } })
    const seen = (alias: string, days: number) =>
      Array.from({ length: days }, (_, n) => ({ alias, at: `2020-05-0${n + 1} 10:00:00` }))
    const links = [['Y', 5] as const, ['y', 2] as const]
    const done = await bring(own, dumpOf(links, [...seen('Y', 3), ...seen('y', 1)]), 'domain=y.example')
    expect(done, JSON.stringify(done.notes)).to.include({ state: 'done', created: 2, failed: 0 })
    const { urls } = (await app.get('/api/urls?domain=y.example', own)).json['data'] as {
      urls: readonly { id: number; alias: string }[]
    }
    for (const [alias, total, single] of [
      ['Y', 5, 3],
      ['y', 2, 1],
    ] as const) {
      const { id } = urls.find((one) => one.alias === alias)!
      const counts = await until(
        async () => (await app.get(`/api/url/${id}`, own)).json['data'] as { clicks: number },
        ({ clicks }) => clicks === total,
      )
      expect(counts, alias).to.include({ clicks: total })
      expect((await seriesOf(own, id, 'to=2021-01-01')).total, alias).to.include({ clicks: single })
    }
  })

  it('are counted even with an invalid country, and do not stop the counts of other accounts', async () => {
    const [own, other] = [await app.register(), await app.register()]
    const given = ['\0', 'D\0', '\ud800', 'X'.repeat(20_000), 'GERMANY', '__proto__', 'de', '']
    const line = (record: object) => JSON.stringify({ place: { line: 1 }, ...record })
    const file = [
      line({ kind: 'link', addresses: [{ alias: 'odd' }], url: 'https://example.com/odd' }),
      ...given.map((country) => line({ kind: 'visit', alias: 'odd', at: '2020-01-01T00:00:00Z', country })),
      line({ kind: 'visit', alias: 'odd', at: '2020-01-01T00:00:00Z', referrer: 'https://\0.example' }),
    ].join('\n')
    const done = await bring(own, file, 'format=records')
    expect(done).to.include({ state: 'done', created: 1, failed: 4 })
    const wrong = done.notes.filter(({ outcome }) => outcome === 'failed').map(({ message }) => message)
    expect(wrong[0]).to.equal('`country` must not contain NUL characters or lone surrogates.')
    const { details: link } = await until(
      () => details(own, 'odd'),
      ({ data }) => data['clicks'] === 5,
    )
    const { json } = await app.get(`/api/url/${link.id}/stats?interval=month&from=2019-01-01&by=country`, own)
    expect(json['data'].by.country).to.deep.equal({ Unknown: 4, Germany: 1 })
    await app.post('/api/url/add', { ...other, body: { url: 'https://example.com/other', custom: 'counted-too' } })
    await app.visit('/counted-too')
    await until(
      () => details(other, 'counted-too'),
      ({ data }) => data['clicks'] === 1,
    )
  })

  it('let the statistics go on with each event, which have all of them when the import is done', async () => {
    const own = await app.register()
    const many = Array.from({ length: 3_000 }, (_, n) => ({ alias: 'many', at: `2020-01-0${1 + (n % 9)} 10:00:00` }))
    const { id } = (await send(own, dumpOf([['many', 0]], many))).json as { id: string }
    const sql = `select count(*) as n from log.events where stream = 'visits-${id}' and position >
      (select max(position) from read.checkpoints where projection = 'stats' and live)`
    let ahead = 0
    const { state } = await until(
      async () => {
        ahead = Math.max(ahead, Number((await query<{ n: string }>(app.connection, sql))[0]!.n))
        return (await app.get(`/api/import/${id}`, own)).json['details'] as Details
      },
      (found) => found.state !== 'running',
      150_000,
    )
    expect(state).to.equal('done')
    expect(ahead).to.be.at.most(1)
    expect((await details(own, 'many')).data).to.include({ clicks: 3_000 })
  })

  it('do not end a link by max_clicks, and its status says so', async () => {
    const own = await app.register()
    const visit = { kind: 'visit', place: { line: 2 }, alias: 'left', at: '2020-01-01T00:00:00Z' }
    const link = { kind: 'link', place: { line: 1 }, addresses: [{ alias: 'left' }], url: 'https://example.com/left' }
    const lines = [{ ...link, maxClicks: 5, measured: 3 }, visit, visit, visit]
    const used = { ...link, addresses: [{ alias: 'used' }], maxClicks: 3, measured: 3 }
    const file = [...lines, used].map((one) => JSON.stringify(one)).join('\n')
    expect(await bring(own, file, 'format=records')).to.include({ created: 1, skipped: 1 })
    await until(
      () => details(own, 'left'),
      ({ data }) => data['clicks'] === 3,
    )
    const shown = async () => {
      const { json } = await app.get('/api/urls?short=left', own)
      return [json['details'].status, json['data'].urls[0].status, (await app.visit('/left')).status] as unknown[]
    }
    expect(await shown()).to.deep.equal(['active', 'active', 302])
    expect(await shown()).to.deep.equal(['active', 'active', 302])
    await until(shown, ([first, second, answer]) => first === 'expired' && second === 'expired' && answer === 410)
  })

  it('go with the import when that is taken back, and come again with another one', async () => {
    const own = await app.register()
    const answers = async () => {
      const paths = ['/api/urls', '/api/account/stats?interval=month&from=2018-01-01&to=2026-01-01', '/api/visits']
      const texts = await Promise.all(paths.map(async (path) => JSON.stringify((await app.get(path, own)).json)))
      return createHash('sha256').update(texts.join('\n')).digest('hex')
    }
    const before = await answers()
    const dump = dumpOf(
      [['back', 30]],
      visits.map((visit) => ({ ...visit, alias: 'back' })),
    )
    const { id } = await bring(own, dump)
    await until(answers, (now) => now !== before)
    await app.del(`/api/import/${id}/delete`, own)
    expect(await ended(own, id)).to.include({ state: 'undone', kept: 0 })
    await until(answers, (now) => now === before)
    expect(await bring(own, dump)).to.include({ created: 1 })
    await until(
      () => details(own, 'back'),
      ({ data }) => (data['clicks'] ?? 0) > 30,
    )
  })
})
