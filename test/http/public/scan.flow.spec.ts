import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { startTestApp, type TestApp, urlOf } from '../../support/app.ts'
import { type Answer, browser, until } from '../../support/client.ts'
import { inSeconds, secondsLater } from '../../support/clock.ts'
import { visitAt } from '../../support/host.ts'
import { runCommand } from '../../support/process.ts'
import { untar } from '../../support/tar.ts'
import { withAt } from '../../support/workload.ts'

type Json = Answer['json']
const long = 'https://example.com/a?b=c'
const marked = /[?&]ll_scan=\d+\.\d+\.[\w-]{43}$/

describe('a scan of a QR code that leads to a link of the same account', () => {
  let app: TestApp
  let key: string
  let other: string
  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1', DOMAIN_CHECK: 'off' })
    ;({ key } = await app.register())
    ;({ key: other } = await app.register())
  })
  after(() => app.close())

  const post = async (path: string, body: object, as = key) => {
    const { status, json, text } = await app.post(path, { key: as, body })
    expect(status, text).to.equal(200)
    return json
  }
  const get = async (path: string, as = key) => (await app.get(path, { key: as })).json
  /** Makes a link. `path` is where it is on its host. */
  const add = async (body: object = {}, as = key) => {
    const { id, short } = await post('/api/url/add', { url: long, ...body }, as)
    return { id: Number(id), short: String(short), path: new URL(String(short)).pathname }
  }
  /** Makes a QR code that leads to an address. */
  const codeFor = async (data: string, as = key) => {
    const { id, link } = await post('/api/qr/add', { type: 'link', data }, as)
    return { id: Number(id), go: `${new URL(String(link)).pathname}/go` }
  }
  const linkAndCode = async (body: object = {}) => {
    const link = await add(body)
    return { link, code: await codeFor(link.short) }
  }
  const pathOf = (location: string | null | undefined) => {
    const { pathname, search } = new URL(location ?? '')
    return pathname + search
  }
  const ask = (path: string, address = '24.48.0.1', headers: Readonly<Record<string, string>> = {}) =>
    app.visit(path, { 'X-Forwarded-For': address, ...headers })
  /** Scans a code, and follows it to the link as a browser does. */
  const scan = async (go: string, address?: string, headers?: Readonly<Record<string, string>>) => {
    const first = await ask(go, address, headers)
    expect([first.status, first.text]).to.deep.equal([302, ''])
    return ask(pathOf(first.headers.get('Location')), address, headers)
  }

  const command = async (...args: string[]) => {
    const settings = { DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET: 'a secret for tests only' }
    const { code, out, err } = await runCommand(args, settings)
    expect(code, out + err).to.equal(0)
  }
  const linesIn = (text: string) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Json)
  /** Returns the visits in an export of the account. */
  const exported = async () => {
    const response = await fetch(`${app.address}/api/account/export`, { headers: { Authorization: `Bearer ${key}` } })
    const files = untar(gunzipSync(Buffer.from(await response.arrayBuffer())))
    return [...files].flatMap(([name, text]) => (name.startsWith('clicks/') ? linesIn(text) : []))
  }

  // some visits here are of the next minute
  const always = 'by=source&from=2026-01-01&to=2099-01-01&interval=month'
  const sourcesOf = async (path: string) =>
    (await get(`${path}?${always}`))['data'] as { total: Json; by: { source: Json } }
  /** What every answer says about the clicks of a link and of a code. */
  const seen = async (link: number, code: number) => {
    const [{ data: one }, { data: scans, details }] = [await get(`/api/url/${link}`), await get(`/api/qr/${code}`)]
    const { data: codes } = await get('/api/qr?limit=100')
    const { total, by } = await sourcesOf(`/api/url/${link}/stats`)
    return {
      link: [one.clicks, one.uniqueClicks],
      code: [scans.clicks, scans.uniqueClicks],
      sources: by.source,
      total: [total['clicks'], total['uniqueClicks']],
      scans: [details.scans, (codes.qrs as Json[]).find(({ id }) => id === code)?.['scans']],
    }
  }
  const counts = (link: readonly number[], code: readonly number[], sources: object) => ({
    ...{ link, code, sources, total: link, scans: [code[0], code[0]] },
  })
  const accountClicks = async () => (await sourcesOf('/api/account/stats')).total['clicks'] as number
  /**
   * Waits until everything that was visited so far is counted: clicks are recorded in order, and the one on a new link
   * is the last.
   */
  const allCounted = async () => {
    const marker = await add()
    await ask(marker.path)
    await until(
      () => get(`/api/url/${marker.id}`),
      ({ data }) => data.clicks === 1,
    )
  }
  /** Returns how many clicks of the account something makes. */
  const clicksBy = async (run: () => Promise<unknown>) => {
    await allCounted()
    const before = await accountClicks()
    await run()
    await allCounted()
    return (await accountClicks()) - before - 1
  }

  it('is one click: of the link, with the source `qr`, which the code counts as a scan', async () => {
    const { link, code } = await linkAndCode()
    const clicks = await clicksBy(async () => {
      const { status, headers } = await scan(code.go)
      expect([status, headers.get('Location')]).to.deep.equal([302, long])
      await scan(code.go)
      await scan(code.go, '81.2.69.142')
      await ask(link.path)
    })
    expect(clicks).to.equal(4)
    expect(await seen(link.id, code.id)).to.deep.equal(counts([4, 2], [3, 2], { qr: 3, link: 1 }))
    const { data } = await get(`/api/qr/${code.id}`)
    expect(data).to.deep.include({
      topCountries: { Canada: '2', 'United Kingdom': '1' },
      topReferrers: { Direct: '3' },
    })
    const { data: revisions } = await get(`/api/url/${link.id}/revisions`)
    expect(revisions.revisions[0].sent).to.deep.equal([{ destination: long, rule: 'link', clicks: 4, visits: 4 }])
  })

  it('leads to the address that the code has, with its query, and a mark that goes no further', async () => {
    const link = await add({ forward: true })
    const code = await codeFor(`${link.short}/?utm_source=poster#top`)
    const { headers } = await ask(code.go)
    const location = headers.get('Location') ?? ''
    expect(location.replace(/&ll_scan=[^#]*/, '')).to.equal(`${link.short}/?utm_source=poster#top`)
    expect(location.split('#')[0]).to.match(marked)
    expect((await ask(pathOf(location))).headers.get('Location')).to.equal(`${long}&utm_source=poster`)
    // an address that was copied with its mark becomes one with a new mark
    const again = await ask((await codeFor(location)).go)
    expect((again.headers.get('Location') ?? '').match(/ll_scan/g)).to.have.length(1)
    const old = await secondsLater(61, () => ask(pathOf(location)))
    expect(old.headers.get('Location')).to.equal(`${long}&utm_source=poster`)
  })

  it('is counted by the rules, splash page, password and maximum of the link', async () => {
    const targeted = await linkAndCode({ geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }] })
    const shown = await linkAndCode({ type: 'splash' })
    const locked = await linkAndCode({ password: 'opensesame' })
    const once = await linkAndCode({ max_clicks: 1 })

    expect((await scan(targeted.code.go)).headers.get('Location')).to.equal('https://example.com/ca')
    expect((await scan(shown.code.go)).status).to.equal(200)

    const form = await ask(locked.code.go)
    const path = pathOf(form.headers.get('Location'))
    expect((await ask(path)).text).to.include('<form method="post">')
    const typed = await app.post(path, {
      body: 'password=opensesame',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
    expect([typed.status, typed.headers.get('Location')]).to.deep.equal([303, path])
    const cookie = typed.headers.get('Set-Cookie')?.split(';')[0] ?? ''
    expect((await ask(path, undefined, { Cookie: cookie })).headers.get('Location')).to.equal(long)

    expect((await scan(once.code.go)).headers.get('Location')).to.equal(long)
    expect((await ask(once.link.path, '81.2.69.142')).status).to.equal(410)

    await allCounted()
    for (const { link, code } of [targeted, shown, locked, once])
      expect(await seen(link.id, code.id)).to.deep.equal(counts([1, 1], [1, 1], { qr: 1 }))
  })

  it('is counted for a link on a branded domain', async () => {
    const host = 'go.scans.example'
    await post('/api/domain/add', { domain: `https://${host}` })
    const link = await add({ custom: 'poster', domain: host })
    const code = await codeFor(`https://${host}/poster`)
    const { headers } = await ask(code.go)
    const location = headers.get('Location') ?? ''
    expect(location).to.match(/^https:\/\/go\.scans\.example\/poster\?ll_scan=/)
    const visited = await visitAt(app.address, host, pathOf(location), { 'User-Agent': browser })
    expect([visited.status, visited.location]).to.deep.equal([302, long])
    await allCounted()
    expect(await seen(link.id, code.id)).to.deep.equal(counts([1, 1], [1, 1], { qr: 1 }))
  })

  it('is a visit of the code alone when the link is deleted, has ended or has not begun', async () => {
    const gone = await linkAndCode()
    const ended = await linkAndCode({ expiry: inSeconds(60) })
    const early = await linkAndCode({ starts: inSeconds(3600) })
    const full = await linkAndCode({ max_clicks: 1 })
    await app.del(`/api/url/${gone.link.id}/delete`, { key })
    await ask(full.link.path)
    const follow = async ({ link, code }: typeof gone) => {
      const first = await ask(code.go)
      expect([first.status, first.headers.get('Location')]).to.deep.equal([302, link.short])
      return (await ask(link.path)).status
    }
    expect(await follow(gone)).to.equal(404)
    expect(await follow(early)).to.equal(404)
    expect(await follow(full)).to.equal(410)
    expect(await secondsLater(61, () => follow(ended))).to.equal(410)
    await allCounted()
    for (const { link, code } of [ended, early])
      expect(await seen(link.id, code.id)).to.deep.include({ link: [0, 0], code: [1, 1] })
    expect(await seen(full.link.id, full.code.id)).to.deep.include({ link: [1, 1], code: [1, 1], sources: { link: 1 } })
    expect((await get(`/api/qr/${gone.code.id}`))['data']).to.include({ clicks: 1 })
  })

  it('is no visit when the operator blocks the link, as for all that is blocked', async () => {
    const { link, code } = await linkAndCode()
    await command('block', 'link', `id:${link.id}`, '--reason', 'spam', '--yes')
    await until(
      () => ask(link.path),
      ({ status }) => status === 403,
    )
    expect((await scan(code.go)).status).to.equal(403)
    await allCounted()
    const before = await seen(link.id, code.id)
    expect(before).to.deep.include({ code: [0, 0] })
  })

  it('stays two visits when the link is of another account, or the code leads to another page of ours', async () => {
    const theirs = await add({}, other)
    const page = await post('/api/bio/add', { name: 'Ann', alias: 'scanned', links: [] })
    const codes = [await codeFor(theirs.short), await codeFor(String(page['link']))]
    for (const { go } of codes) {
      const { headers } = await ask(go)
      expect(headers.get('Location')).not.to.match(/ll_scan/)
      await ask(pathOf(headers.get('Location')))
    }
    await allCounted()
    for (const { id } of codes) expect((await get(`/api/qr/${id}`))['data']).to.include({ clicks: 1 })
    expect((await sourcesOf(`/api/account/stats`)).by.source['qr']).to.be.at.least(2)
    expect((await get(`/api/url/${theirs.id}/stats?by=source`, other))['data'].by.source).to.deep.equal({ link: 1 })
  })

  it('is an ordinary visit of the link when the mark is forged, over or of another link', async () => {
    const { link, code } = await linkAndCode()
    const { link: second } = await linkAndCode()
    const { headers } = await ask(code.go)
    const path = pathOf(headers.get('Location'))
    const [, from = '', until_ = '', mac = ''] = /ll_scan=(\d+)\.(\d+)\.(.*)/.exec(path) ?? []
    const mark = (id: string | number, until: string | number, signature: string) =>
      `${link.path}?ll_scan=${id}.${until}.${signature}`
    const forged = [
      mark(
        from,
        until_,
        mac.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
      ),
      mark(from, Number(until_) + 60, mac),
      mark(Number(from) + 1, until_, mac),
      mark(from, until_, ''),
      `${link.path}?ll_scan=`,
      `${link.path}?ll_scan=x`,
    ]
    for (const address of forged) expect((await ask(address)).headers.get('Location'), address).to.equal(long)
    await secondsLater(61, () => ask(path))
    await ask(path.replace(link.path, second.path))
    await ask(path.replace(link.path, second.path.toUpperCase()))
    await allCounted()
    expect(await seen(link.id, code.id)).to.deep.equal(counts([7, 1], [0, 0], { link: 7 }))
    expect(await sourcesOf(`/api/url/${second.id}/stats`)).to.deep.include({ by: { source: { link: 2 } } })
  })

  it('is not counted for HEAD, and not as a person for bots', async () => {
    const { link, code } = await linkAndCode()
    const head = await app.ask('HEAD', code.go)
    expect((await app.ask('HEAD', pathOf(head.headers.get('Location')))).status).to.equal(302)
    await scan(code.go, '8.8.8.8', { 'User-Agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' })
    await allCounted()
    expect(await seen(link.id, code.id)).to.deep.equal(counts([0, 0], [0, 0], {}))
  })

  it('is in streams, filters and exports as one click that names both', async () => {
    const { link, code } = await linkAndCode()
    const channel = (await post('/api/channel/add', { name: 'Print' }))['id']
    await post(`/api/channel/${channel}/assign/qr/${code.id}`, {})
    await scan(code.go)
    await ask(link.path)
    await allCounted()
    const { text } = await app.get(`/api/clicks?channel=${channel}`, { key })
    expect(linesIn(text).map(({ link: id, rule, source }) => ({ id, rule, source }))).to.deep.equal([
      { id: link.id, rule: 'link', source: { kind: 'qr', id: code.id } },
    ])
    const { data } = await get(`/api/stats?channel=${channel}&by=source,link`)
    expect(data.total).to.include({ clicks: 1 })
    expect((data.by.link as Json[]).map(({ value, count }) => [value, count])).to.deep.equal([[String(link.id), 1]])
    const clicks = await exported()
    expect(clicks.filter(({ of, id }) => of === 'link' && id === link.id)).to.have.length(2)
    expect(clicks.filter(({ qr }) => qr === code.id).map(({ of, id, source }) => ({ of, id, source }))).to.deep.equal([
      { of: 'link', id: link.id, source: 'qr' },
    ])
  })

  it('changes its class as one visit, for the link and the code, and gets it back', async () => {
    const { link, code } = await linkAndCode()
    await scan(code.go, '8.8.8.8')
    await scan(code.go)
    await ask(link.path, '8.8.8.8')
    await allCounted()
    const before = await seen(link.id, code.id)
    expect(before).to.deep.equal(counts([3, 2], [2, 2], { qr: 2, link: 1 }))
    await app.put('/api/account/exclusions', { key, body: { countries: ['US'] } })
    const { id, visits } = await post('/api/account/reclassify', { link: link.id })
    expect(visits).to.equal(2)
    const after = () => seen(link.id, code.id)
    const excluded = await until(after, ({ link: [clicks] }) => clicks === 1)
    expect(excluded).to.deep.equal(counts([1, 1], [1, 1], { qr: 1 }))
    await post('/api/account/reclassify', { undo: id })
    expect(await until(after, ({ link: [clicks] }) => clicks === 3)).to.deep.equal(before)
    await app.put('/api/account/exclusions', { key, body: { countries: [] } })
  })

  it('leaves the past as it was answered, and agrees with tables that are filled again', async () => {
    const { link, code } = await linkAndCode()
    await scan(code.go)
    await allCounted()
    const paths = [
      `/api/url/${link.id}`,
      `/api/qr/${code.id}`,
      `/api/url/${link.id}/stats?${always}`,
      '/api/qr?limit=100',
    ]
    const answers = async (at?: string) => {
      const all = await Promise.all(paths.map((path) => app.get(at === undefined ? path : withAt(path, at), { key })))
      return all.map(({ json }) => json['data'] as Json)
    }
    const moment = (await app.get('/api/account/stats', { key })).headers.get('Linkledger-At') ?? ''
    const then = await answers()
    await scan(code.go)
    await ask(link.path)
    await allCounted()
    expect(await answers(moment)).to.deep.equal(then)
    const now = await answers()
    expect(now).not.to.deep.equal(then)
    await command('rebuild')
    expect(await answers()).to.deep.equal(now)
    expect(await answers(moment)).to.deep.equal(then)
  })
})
