import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { answer } from '../../../../src/commands/pages/answer.ts'
import type { Click } from '../../../../src/events/statistics/click.ts'
import { systemMetadata } from '../../../../src/events/event.ts'
import type { EventStore } from '../../../../src/events/store.ts'
import { exportedLists } from '../../../../src/http/accounts/export/resources.ts'
import { contracts } from '../../../../src/http/docs/contracts.ts'
import { pngOf } from '../../../../src/qr/logo.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { bodies } from '../../../support/bodies.ts'
import { until } from '../../../support/client.ts'
import { readAll } from '../../../imports/support.ts'
import { untar } from '../../../support/tar.ts'

type Row = Readonly<Record<string, unknown>>

const pixels = { width: 24, height: 24, data: Buffer.alloc(24 * 24 * 4, 0x7f) }
const image = `data:image/png;base64,${pngOf(pixels).toString('base64')}`

const click = (account: number, over: Partial<Click>): Click => ({
  at: '2026-03-04T05:06:07.089Z',
  account,
  link: 0,
  revision: 0,
  destination: 0,
  rule: 'link',
  source: { kind: 'link', id: over.link ?? 0 },
  country: 'CA',
  language: 'fr',
  referrer: 'news.example',
  browser: { family: 'Firefox', version: '1' },
  os: { family: 'Linux', version: '' },
  device: 'desktop',
  class: 'human',
  agent: 0,
  visitor: 'aa',
  ...over,
})

describe('the export of an account', () => {
  let app: TestApp
  const ours = { key: '', id: 0, email: '', ids: new Map<string, number>() }
  const theirs = { key: '', id: 0, email: '', ids: new Map<string, number>() }

  const ask = (key: string, signal?: AbortSignal) =>
    fetch(`${app.address}/api/account/export`, {
      headers: { Authorization: `Bearer ${key}` },
      ...(signal && { signal }),
    })
  const exported = async (key: string) => {
    const response = await ask(key)
    expect(response.status).to.equal(200)
    return untar(gunzipSync(Buffer.from(await response.arrayBuffer())))
  }
  const linesOf = (files: ReadonlyMap<string, string>, folder: string): Row[] =>
    [...files]
      .filter(([name]) => name.startsWith(`${folder}/`))
      .flatMap(([, text]) => text.trimEnd().split('\n'))
      .map((line) => JSON.parse(line) as Row)
  /** A row without what moves while it is looked at: the last use of its key, and the next event of its webhook. */
  const settled = ({ lastused: _, next: __, ...row }: Row): Row => row
  const get = async (path: string, key: string) => (await app.get(path, { key })).json

  /** Makes one resource of each kind, all with a mark in their texts, an answer, and clicks. */
  const fill = async ({ key, id: account, ids }: typeof ours, mark: string) => {
    const { store, handler } = app.app.ledger
    for (const [kind, [make]] of Object.entries(bodies)) {
      const fields = make() as Row
      const logo = kind === 'qr' ? { logo: image } : {}
      const named = 'name' in fields ? { name: mark } : kind === 'url' ? { title: mark, tags: [mark] } : {}
      const { json } = await app.post(`/api/${kind}/add`, { key, body: { ...fields, ...named, ...logo } })
      expect(json['error'], kind).to.equal(0)
      ids.set(kind, json['id'] as number)
    }
    const link = ids.get('url')!
    await app.put(`/api/url/${link}/update`, {
      key,
      body: { url: `https://example.com/${mark}`, password: 'opensesame' },
    })
    await app.post(`/api/channel/${ids.get('channel')}/assign/links/${link}`, { key })
    const away = (await app.post('/api/url/add', { key, body: { url: `https://example.com/${mark}-away` } })).json['id']
    await app.put(`/api/url/${away}/update`, { key, body: { url: `https://example.com/${mark}-away`, archived: true } })
    const gone = (await app.post('/api/url/add', { key, body: { url: `https://example.com/${mark}-gone` } })).json['id']
    await app.del(`/api/url/${gone}/delete`, { key })
    const overlay = ids.get('overlay')!
    const fields = JSON.stringify({ email: `${mark}@x.example` })
    const command = { type: 'GiveAnswer', answer: randomUUID(), overlay, account, link, fields } as const
    await handler.handle(answer, command, systemMetadata(account))
    const clicks = [
      click(account, { link }),
      click(account, { link, at: '2026-03-04T05:06:01.000Z', class: 'bot' }),
      click(account, { link: 0, source: { kind: 'qr', id: ids.get('qr')! }, at: '2026-04-01T00:00:00.000Z' }),
    ]
    const data = {
      rules: 1,
      agents: [''],
      destinations: [`https://example.com/${mark}`],
      languages: [],
      clicks,
      upTo: {},
    }
    const event = { type: 'LinkClicked', id: randomUUID(), data, metadata: systemMetadata() } as const
    await store.append([{ stream: `clicks-test-${randomUUID()}`, expected: 'no_stream', events: [event] }])
    await until(
      () => get(`/api/url/${link}`, key),
      ({ data }) => data['clicks'] === 1,
    )
  }

  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
    Object.assign(theirs, await app.register('tenantb'))
    Object.assign(ours, await app.register('tenanta'))
    await fill(theirs, 'tenantb')
    await fill(ours, 'tenanta')
  })
  after(() => app.close())

  it('has maps of the present redirects for other servers, without links that have a password or have ended', async () => {
    const own = await app.register()
    const add = (body: object) => app.post('/api/url/add', { ...own, body })
    await add({ url: 'https://example.com/a?x={y}&z=$1', custom: 'map-1' })
    await add({ url: 'https://example.com/secret', custom: 'map-2', password: 'correct horse 2' })
    await add({ url: 'https://example.com/later', custom: 'map-3', starts: '2999-01-01 00:00:00' })
    const files = await exported(own.key)
    const { host } = new URL(app.app.baseUrl)
    const maps = Object.fromEntries([...files].filter(([name]) => name.startsWith('redirects/')))
    expect(maps).to.deep.equal({
      'redirects/csv/000001.csv': 'alias,url\nmap-1,https://example.com/a?x={y}&z=$1\n',
      'redirects/nginx/000001.map': `"${host}/map-1" "https://example.com/a?x=%7By%7D&z=%241";\n`,
      'redirects/caddy/000001.caddy': `"${host}/map-1" "https://example.com/a?x=%7By%7D&z=%241"\n`,
      'redirects/netlify/000001._redirects': `https://${host}/map-1 https://example.com/a?x={y}&z=$1 302\n`,
      'redirects/cloudflare/000001.csv': `source_url,target_url,status_code\n${host}/map-1,https://example.com/a?x={y}&z=$1,302\n`,
    })
  })

  it('given exact aliases with any signs, then each map has them as they are, with their letter case', async () => {
    const own = await app.register()
    await app.post('/api/domain/add', { ...own, body: { domain: 'https://old.example.org', aliases: 'exact' } })
    const aliases = ['Sale', 'sale', 'Sale/2026.html', '*', '{$HOME}', '"q"', '-x', '=x', 'a;@x', 'a\u2028b', 'été 1']
    for (const [n, custom] of aliases.entries()) {
      const body = { url: `https://example.com/${n}`, custom, domain: 'old.example.org' }
      expect((await app.post('/api/url/add', { ...own, body })).status, custom).to.equal(200)
    }
    const files = await exported(own.key)
    const lines = (folder: string) => files.get(`redirects/${folder}`)!.trimEnd().split('\n')
    const host = String.raw`"~^old\x2eexample\x2eorg`
    expect(lines('nginx/000001.map').slice(0, 6)).to.deep.equal([
      `${host}/Sale$" "https://example.com/0";`,
      `${host}/sale$" "https://example.com/1";`,
      String.raw`${host}/Sale/2026\x2ehtml$" "https://example.com/2";`,
      String.raw`${host}/\x2a$" "https://example.com/3";`,
      String.raw`${host}/\x7b\x24HOME\x7d$" "https://example.com/4";`,
      String.raw`${host}/\x22q\x22$" "https://example.com/5";`,
    ])
    expect(lines('caddy/000001.caddy').slice(2, 6)).to.deep.equal([
      '"old.example.org/Sale/2026.html" "https://example.com/2"',
      '"old.example.org/*" "https://example.com/3"',
      String.raw`${host}/\x7b\x24HOME\x7d$" "https://example.com/4"`,
      String.raw`${host}/\x22q\x22$" "https://example.com/5"`,
    ])
    expect(lines('netlify/000001._redirects')[3]).to.equal('https://old.example.org/%2A https://example.com/3 302')
    expect(lines('csv/000001.csv').slice(6)).to.deep.equal([
      'https://old.example.org/%22q%22,https://example.com/5',
      'https://old.example.org/-x,https://example.com/6',
      'https://old.example.org/%3Dx,https://example.com/7',
      'https://old.example.org/a%3B%40x,https://example.com/8',
      'https://old.example.org/a%E2%80%A8b,https://example.com/9',
      'été 1,https://example.com/10',
    ])
    const read = await readAll(files.get('redirects/csv/000001.csv')!, 'csv')
    expect(read.map((one) => one.kind === 'link' && one.addresses[0]?.alias)).to.deep.equal(aliases)
  })

  it('has every list of the API', () => {
    const lists = Object.values(contracts).flatMap((described) =>
      Object.entries(described).flatMap(([endpoint, { list }]) => (list ? [endpoint.slice(4)] : [])),
    )
    const has = exportedLists.flatMap(({ list, within }) => (within ? [list, within.list] : [list]))
    // histories, revisions and visits follow from the events and clicks that an export has; what operators see is no
    // account's, and what leads nowhere is counted in memory: it is no event of the account
    const own = lists.filter((list) => !/\/(?:history|revisions|visits|misses)$|^\/api\/operator\//.test(list))
    expect([...has, '/api/overlay/:id/answers']).to.have.members(own)
  })

  it('has everything of the account as the API answers it, and nothing of another account', async () => {
    const { key, id, ids } = ours
    const files = await exported(key)
    expect(JSON.parse(files.get('account.json')!)).to.deep.equal((await get('/api/account', key))['data'])
    expect(files.get('README.txt')).to.include('manifest.json')
    expect([...files.keys()].at(-1)).to.equal('manifest.json')
    const manifest = JSON.parse(files.get('manifest.json')!) as Row
    expect(manifest).to.include({ account: id, clicks_since: null })
    expect(manifest['position']).to.equal(manifest['head'])

    for (const { folder, list, details, query } of exportedLists) {
      const { data } = await get(`${list}?limit=100&${new URLSearchParams({ ...query }).toString()}`, key)
      const rows = Object.values(data as object).find(Array.isArray) as Row[]
      const answers = details
        ? await Promise.all(rows.map(async ({ id }) => get(details.replace(':id', String(id)), key)))
        : rows
      const expected = answers.map(({ error: _, ...row }: Row) => row)
      expect(linesOf(files, folder).map(settled), folder).to.deep.equal(expected.map(settled))
      expect((manifest['lines'] as Row)[folder], folder).to.equal(expected.length)
    }
    expect(linesOf(files, 'links')).to.have.length(2)
    const { items } = (await get(`/api/channel/${ids.get('channel')}`, key))['data'] as { items: Row[] }
    expect(linesOf(files, 'channel-items')).to.deep.equal(items.map((row) => ({ channel: ids.get('channel'), ...row })))
    expect(linesOf(files, 'answers')).to.deep.equal(
      linesOf(files, 'answers').map((row) => ({
        ...row,
        overlay: ids.get('overlay'),
        fields: { email: 'tenanta@x.example' },
      })),
    )
    expect(linesOf(files, 'answers')).to.have.length(1)

    expect([...files.keys()].filter((name) => name.startsWith('logos/'))).to.deep.equal([`logos/${ids.get('qr')}.png`])
    expect(files.get(`logos/${ids.get('qr')}.png`)!.slice(1, 4)).to.equal('PNG')

    const all = [...files.values()].join('\n')
    expect(all).to.include('tenanta')
    expect(all).not.to.include('tenantb')
    expect(all)
      .not.to.include('opensesame')
      .and.not.to.match(/scrypt|"\w*(?:password|hash|token)":"/i)
  })

  it('has the history of existing and deleted resources, with sealed fields opened', async () => {
    const { key, id, ids, email } = ours
    const events = linesOf(await exported(key), 'events')
    const of = (stream: string) => events.filter((event) => event['stream'] === stream)
    expect(of(`account-${id}`)[0]).to.include({ type: 'AccountRegistered', revision: 0 })
    expect(of(`account-${id}`)[0]!['data']).to.include({ email })
    expect(of(`link-${ids.get('url')}`).map(({ type }) => type)).to.include.members(['LinkCreated', 'LinkUpdated'])
    expect(events.map(({ type }) => type)).to.include.members(['LinkDeleted', 'ItemAssignedToChannel', 'PixelCreated'])
    expect(of(`bio-${ids.get('bio')}`)[0]!['data']).to.include({ name: 'tenanta' })
    expect(of(`link-${ids.get('url')}`)[0]!['by']).to.have.property('kind', 'key')
  })

  it('has every visit with all of its data, oldest first', async () => {
    const { key, ids } = ours
    const clicks = linesOf(await exported(key), 'clicks')
    const same = {
      country: 'CA',
      language: 'fr',
      referrer: 'news.example',
      browser: 'Firefox',
      os: 'Linux',
      device: 'desktop',
      variant: '',
      medium: '',
      address: '1',
    }
    const link = { of: 'link', id: ids.get('url'), source: 'link', ...same }
    expect(clicks).to.deep.equal([
      { ...link, at: '2026-03-04T05:06:07.089Z', class: 'human', unique: true },
      { ...link, at: '2026-03-04T05:06:01.000Z', class: 'bot', unique: false },
      {
        ...link,
        of: 'qr',
        id: ids.get('qr'),
        source: 'qr',
        at: '2026-04-01T00:00:00.000Z',
        class: 'human',
        unique: true,
      },
    ])
  })

  it('is sent as a file to keys with the scope `account`, and not made for HEAD', async () => {
    const { key } = ours
    const { key: reader } = (await app.post('/api/key/add', { key, body: { name: 'r', scopes: ['read'] } })).json
    expect((await app.get('/api/account/export', { key: String(reader) })).status).to.equal(403)
    const head = await app.ask('HEAD', '/api/account/export', { key })
    expect([head.status, head.text]).to.deep.equal([200, ''])
    const response = await ask(key)
    expect(response.headers.get('Content-Type')).to.equal('application/gzip')
    expect(response.headers.get('Content-Disposition')).to.match(
      /^attachment; filename="linkledger-\d+-[\d-]+\.tar\.gz"$/,
    )
    await response.arrayBuffer()
  })

  describe('while it is made', () => {
    let read: EventStore['read']
    const store = () => app.app.ledger.store as { read: EventStore['read'] }
    before(() => (read = store().read))
    afterEach(() => (store().read = read))
    const complete = () =>
      until(
        async () => {
          const response = await ask(ours.key)
          await response.arrayBuffer()
          return response.status
        },
        (status) => status === 200,
      )

    it('is the only one of its account, and ends when the client goes away', async () => {
      let reading = false
      store().read = async function* () {
        reading = true
        await new Promise(() => {})
        yield* []
      }
      const gone = new AbortController()
      const first = await ask(ours.key, gone.signal)
      expect(first.status).to.equal(200)
      await until(async () => reading, Boolean)
      const second = await app.get('/api/account/export', { key: ours.key })
      expect([second.status, second.json['message']]).to.deep.equal([
        409,
        'An export of this account is still running. Try again when it is complete.',
      ])
      const other = new AbortController()
      expect((await ask(theirs.key, other.signal)).status).to.equal(200)
      gone.abort()
      other.abort()
      store().read = read
      expect(await complete()).to.equal(200)
    })

    it('ends without its manifest once its key has ended, and shows nothing that was made since', async () => {
      const body = { name: 'short', scopes: ['account'] }
      const { key, id } = (await app.post('/api/key/add', { key: ours.key, body })).json
      const stream = `link-${ours.ids.get('url')!}`
      const real = store()
      let [isReading, goOn] = [false, () => {}]
      const ended = new Promise<void>((resolve) => (goOn = resolve))
      store().read = async function* (...asked) {
        if (asked[0] === stream) {
          isReading = true
          await ended
        }
        yield* read.apply(real, asked)
      }
      const response = await ask(String(key))
      expect(response.status).to.equal(200)
      const whole = response.arrayBuffer().then(
        () => 'complete',
        () => 'connection closed',
      )
      await until(async () => isReading, Boolean)
      expect((await app.del(`/api/key/${String(id)}/delete`, { key: ours.key })).status).to.equal(200)
      goOn()
      expect(await whole).to.equal('connection closed')
      store().read = read
      expect(await complete()).to.equal(200)
    })

    it('ends the connection when it fails, so that no client takes a part for the whole', async () => {
      store().read = () => {
        throw new Error('the log is away')
      }
      const response = await ask(ours.key)
      expect(response.status).to.equal(200)
      const problem = await response.arrayBuffer().then(
        () => 'none',
        () => 'connection closed',
      )
      expect(problem).to.equal('connection closed')
      store().read = read
      expect(await complete()).to.equal(200)
    })
  })
})
