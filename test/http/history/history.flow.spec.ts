import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { findInHistory } from '../../../src/http/history/search.ts'
import type { Position } from '../../../src/queries/page.ts'
import { startTestApp, type TestApp, urlOf } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import type { Answer } from '../../support/client.ts'
import { runCommand } from '../../support/process.ts'

interface Entry {
  readonly event: number
  readonly revision: number
  readonly type: string
  readonly message: string
  readonly actor: object
  readonly request: string
  readonly resource: object
  readonly changes: readonly { readonly field: string; readonly old: unknown; readonly new: unknown }[]
}

describe('the history of an account', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const create = async (path: string, body: object): Promise<number> => {
    const { json, text } = await app.post(path, { key, body })
    expect(json['error'], `${path} ${text}`).to.equal(0)
    return json['id'] as number
  }
  const link = (body: object = {}) => create('/api/url/add', { url: 'https://example.com/a', ...body })
  const events = async (path: string, query = '', as = key): Promise<readonly Entry[]> => {
    const { json, status, text } = await app.get(`${path}/history?${query}`, { key: as })
    expect(status, text).to.equal(200)
    return json['data'].events as Entry[]
  }
  const types = async (path: string, query = '') => (await events(path, query)).map(({ type }) => type)

  it('shows one kind of resource only, and finds deleted ones until they are restored', async () => {
    const own = (await app.register()).key
    const made = async (path: string, body: object) => (await app.post(path, { key: own, body })).json['id'] as number
    const id = await made('/api/url/add', { url: 'https://example.com/a' })
    const campaign = await made('/api/campaign/add', { name: 'Spring' })
    await made('/api/pixel/add', { type: 'gtmpixel', name: 'Tags', tag: 'GTM-ABC123' })
    await app.del(`/api/url/${id}/delete`, { key: own })
    await app.del(`/api/campaign/${campaign}/delete`, { key: own })
    const found = async (query: string) => (await events('/api/account', query, own)).map(({ type }) => type)
    expect(await found('resource=url')).to.deep.equal(['LinkDeleted', 'LinkCreated'])
    expect(await found('resource=account')).to.deep.equal(['ApiKeyIssued', 'AccountRegistered'])
    expect(await found('deleted=true')).to.deep.equal(['CampaignDeleted', 'LinkDeleted'])
    await app.post(`/api/url/${id}/restore`, { key: own, body: {} })
    expect(await found('deleted=true')).to.deep.equal(['CampaignDeleted'])
    for (const query of ['resource=link', 'deleted=yes'])
      expect((await app.get(`/api/account/history?${query}`, { key: own })).status, query).to.equal(400)
  })

  it('shows the events of one type that a request made as one entry, with all of them behind it', async () => {
    const own = (await app.register()).key
    const ask = (method: string, path: string, body?: object, headers = {}) =>
      app.ask(method, path, { key: own, ...(body && { body }), headers })
    const grouped = async (query = '') => {
      const { json, text } = await ask('GET', `/api/account/history?group=request${query}`)
      expect(json['data'], text).to.be.an('object')
      return json['data'] as {
        result: number
        next_cursor?: string
        events: (Entry & { events: number; group: string })[]
      }
    }
    const registered = ['ApiKeyIssued 1', 'AccountRegistered 1']
    const shown = (rows: readonly (Entry & { events: number })[]) => rows.map((one) => `${one.type} ${one.events}`)
    expect(shown((await grouped()).events)).to.deep.equal(registered)
    const rows = Array.from({ length: 40 }, (_, n) => ({ url: `https://example.com/${n}` }))
    await ask('POST', '/api/urls/bulk?op=create', { rows })
    const at = `&at=${new Date().toISOString()}`
    const before = await grouped()
    expect(before.result).to.equal(3)
    const [bulk] = before.events
    expect(bulk).to.include({ type: 'LinkCreated', events: 40 })
    const behind = await ask('GET', `/api/account/history?group=${bulk!.group}&limit=100`)
    const { events: all, result } = behind.json['data'] as { events: Entry[]; result: number }
    expect([all.length, result, new Set(all.map(({ request }) => request)).size]).to.deep.equal([40, 40, 1])
    expect(all.at(-1)!.event).to.equal(bulk!.event)

    // a client that names all its requests alike hides none of them
    for (const title of ['a', 'b', 'c'])
      await ask(
        'PUT',
        `/api/url/${(all[0]!.resource as { id: number }).id}/update`,
        { url: 'https://x.example/', title },
        {
          'X-Request-Id': 'nightly',
        },
      )
    const { events, result: now } = await grouped()
    expect(now).to.equal(6)
    expect(shown(events)).to.deep.equal([
      ...['LinkUpdated 1', 'LinkUpdated 1', 'LinkUpdated 1'],
      ...['LinkCreated 40', ...registered],
    ])
    expect((await grouped(at)).events).to.deep.equal(before.events)
    const page = await grouped('&limit=2&cursor=')
    const rest = await grouped(`&limit=10&cursor=${page.next_cursor}`)
    expect([...page.events, ...rest.events]).to.deep.equal(events)
    expect((await grouped('&order=oldest')).events).to.deep.equal(events.toReversed())
    for (const query of ['q=x', 'resource=url', 'deleted=true', 'member=1']) {
      const { status, json } = await ask('GET', `/api/account/history?group=request&${query}`)
      expect([status, json['field']], query).to.deep.equal([400, query.split('=')[0]])
    }
    for (const query of ['group=day', 'group=1']) {
      const { status, json } = await ask('GET', `/api/account/history?${query}`)
      expect([status, json['code']], query).to.deep.equal([400, 'wrong_form'])
    }
  })

  it('is in no group that its client has chosen, but by its type, its author and within ten minutes', async () => {
    const [owner, other] = [await app.register(), await app.register()]
    const { json } = await app.post('/api/key/add', { key: owner.key, body: { name: 'Other', scopes: ['write'] } })
    const request = randomUUID()
    const ask = (method: string, path: string, key: string, body?: object) =>
      app.ask(method, path, { key, ...(body && { body }), headers: { 'X-Request-Id': request } })
    const made = await ask('POST', '/api/url/add', owner.key, { url: 'https://example.com/' })
    const update = (key: string, title: string) =>
      ask('PUT', `/api/url/${made.json['id']}/update`, key, { url: 'https://example.com/', title })
    await update(owner.key, 'a')
    const second = () => Math.floor(Date.now() / 1000) * 1000
    const before = second()
    const since = await until(
      async () => second(),
      (now) => now > before,
    )
    await update(owner.key, 'b')
    await update(json['key'] as string, 'c')
    await ask('DELETE', `/api/url/${made.json['id']}/delete`, owner.key)
    await ask('POST', '/api/url/add', other.key, { url: 'https://example.com/' })
    const { json: found } = await app.get('/api/account/history?group=request', { key: owner.key })
    const entries = (found['data'].events as (Entry & { events: number })[]).map((one) => `${one.type} ${one.events}`)
    expect(entries).to.deep.equal([
      ...['LinkDeleted 1', 'LinkUpdated 1', 'LinkUpdated 2', 'LinkCreated 1'],
      ...['ApiKeyAdded 1', 'ApiKeyIssued 1', 'AccountRegistered 1'],
    ])
    // `from` leaves out the first event of the group: the second one is its entry
    const { json: part } = await app.get(`/api/account/history?group=request&from=${new Date(since).toISOString()}`, {
      key: owner.key,
    })
    expect((part['data'].events as (Entry & { events: number })[]).at(-1)).to.include({ revision: 2, events: 1 })
  })

  it('shows no deletions of other accounts', async () => {
    const [own, other] = [(await app.register()).key, (await app.register()).key]
    const paths = {
      campaign: { name: 'Secret plan' },
      channel: { name: 'Secret channel' },
      pixel: { type: 'bing', name: 'p', tag: 'abc' },
      splash: { name: 'Secret page', title: 'T', message: 'M' },
    }
    for (const [path, body] of Object.entries(paths)) {
      const { json, text } = await app.post(`/api/${path}/add`, { key: other, body })
      expect(json['error'], text).to.equal(0)
      await app.del(`/api/${path}/${json['id']}/delete`, { key: other })
    }
    expect(await events('/api/account', 'deleted=true', other)).to.have.length(4)
    expect(await events('/api/account', 'deleted=true', own)).to.deep.equal([])
  })

  it('names the author and the request of a change, with the old and new value of each field', async () => {
    const id = await link({ title: 'Spring' })
    const editor = (await app.post('/api/key/add', { key, body: { name: 'Import', scopes: ['links:write'] } })).json
    await app.put(`/api/url/${id}/update`, {
      key: editor['key'],
      body: {
        url: 'https://example.com/b',
        title: '',
        geotarget: [{ location: 'Canada', link: 'https://example.ca/' }],
      },
      headers: { 'X-Request-Id': 'import-7' },
    })
    const [changed, created] = await events(`/api/url/${id}`)
    expect(changed).to.deep.include({
      revision: 1,
      type: 'LinkUpdated',
      message: 'Link changed.',
      actor: { kind: 'key', key: editor['id'], name: 'Import' },
      request: 'import-7',
      resource: { type: 'url', id },
    })
    expect(changed!.changes).to.have.deep.members([
      { field: 'longurl', old: 'https://example.com/a', new: 'https://example.com/b' },
      { field: 'title', old: 'Spring', new: '' },
      { field: 'location', old: {}, new: { canada: 'https://example.ca/' } },
    ])
    expect(created).to.deep.include({
      revision: 0,
      type: 'LinkCreated',
      actor: { kind: 'key', key: 1, name: 'Main key' },
    })
    expect(created!.changes).to.deep.include({ field: 'longurl', old: null, new: 'https://example.com/a' })
    expect(changed!.event).to.be.above(created!.event)
  })

  it('shows that a password changed, and never the password, a hash or a token', async () => {
    const url = 'https://example.com/a'
    const id = await link({ password: 'opensesame' })
    await app.put(`/api/url/${id}/update`, { key, body: { url, password: 'opensesame 2' } })
    await app.put(`/api/url/${id}/update`, { key, body: { url, password: '' } })
    const found = await events(`/api/url/${id}`)
    const passwords = found.map(({ changes }) => changes.find(({ field }) => field === 'password'))
    expect(passwords).to.deep.equal([
      { field: 'password', old: true, new: false },
      { field: 'password', old: true, new: true },
      { field: 'password', old: null, new: true },
    ])
    const text = JSON.stringify([found, await events('/api/account', 'limit=1000')])
    for (const secret of [/opensesame/, /scrypt|\$/, /"hash"/, /token/, /ll_\w{12}_\w/])
      expect(text).not.to.match(secret)
  })

  it('needs the scope `account`, because it names keys and their rights', async () => {
    const { json } = await app.post('/api/key/add', { key, body: { name: 'Reader', scopes: ['read'] } })
    expect((await app.get('/api/account/history', { key: json['key'] })).status).to.equal(403)
    expect((await app.get(`/api/key/${json['id']}/history`, { key: json['key'] })).status).to.equal(403)
    expect((await app.get(`/api/url/${await link()}/history`, { key: json['key'] })).status).to.equal(200)
  })

  it('of a channel and of a campaign has the links that came and left, and so has that of the link', async () => {
    const [id, other] = [await link(), await link()]
    const channel = await create('/api/channel/add', { name: 'Print' })
    const [spring, summer] = [
      await create('/api/campaign/add', { name: 'Spring' }),
      await create('/api/campaign/add', { name: 'Summer' }),
    ]
    await app.post(`/api/channel/${channel}/assign/links/${id}`, { key })
    await app.post(`/api/campaign/${spring}/assign/${id}`, { key })
    await app.post(`/api/campaign/${spring}/assign/${other}`, { key })
    await app.post(`/api/campaign/${summer}/assign/${id}`, { key })
    await app.del(`/api/channel/${channel}/assign/links/${id}`, { key })
    await app.del(`/api/url/${id}/delete`, { key })

    expect(await types(`/api/url/${id}`)).to.deep.equal([
      ...[
        'LinkDeleted',
        'ItemRemovedFromChannel',
        'LinkUpdated',
        'LinkUpdated',
        'ItemAssignedToChannel',
        'LinkCreated',
      ],
    ])
    const [left, came] = await events(`/api/channel/${channel}`)
    expect(left).to.deep.include({ message: `Removed from channel ${channel}.`, resource: { type: 'url', id } })
    expect(came!.changes).to.deep.equal([{ field: 'channel', old: null, new: channel }])
    const moves = (await events(`/api/campaign/${spring}`)).map(({ resource, changes }) => [
      resource,
      changes.at(-1)?.new,
    ])
    expect(moves.slice(0, 3)).to.deep.equal([
      [{ type: 'url', id }, summer],
      [{ type: 'url', id: other }, spring],
      [{ type: 'url', id }, spring],
    ])
    expect(await types(`/api/campaign/${summer}`)).to.deep.equal(['LinkDeleted', 'LinkUpdated', 'CampaignCreated'])
  })

  it('has everything of the account in one list, newest first, which a cursor reads to its end', async () => {
    const { key: mine } = await app.register()
    const post = (path: string, body: object) => app.post(path, { key: mine, body })
    await post('/api/pixel/add', { type: 'bing', name: 'p', tag: 'abc' })
    const added = (await post('/api/key/add', { name: 'Two', scopes: ['read'] })).json
    await app.del(`/api/key/${added['id']}/delete`, { key: mine })
    await app.put('/api/account/update', { key: mine, body: { password: 'another one 1' } })
    const all = await events('/api/account', '', mine)
    expect(all.map(({ type }) => type)).to.deep.equal([
      ...[
        'AccountPasswordChanged',
        'ApiKeyDeleted',
        'ApiKeyAdded',
        'PixelCreated',
        'ApiKeyIssued',
        'AccountRegistered',
      ],
    ])
    expect(all[1]).to.deep.include({ resource: { type: 'key', id: added['id'] } })
    const read: Entry[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const { json }: Answer = await app.get(`/api/account/history?limit=4&cursor=${cursor}`, { key: mine })
      read.push(...(json['data'].events as Entry[]))
      cursor = json['data'].next_cursor as string | undefined
    }
    expect(read).to.deep.equal(all)
    expect(await events('/api/account', 'order=oldest', mine)).to.deep.equal(all.toReversed())
    const slim = await events('/api/account', 'fields=type&limit=2&page=2', mine)
    expect(slim).to.deep.equal(all.slice(2, 4).map(({ event, type }) => ({ event, type })))
    expect(await events('/api/account', 'to=2020-01-01', mine)).to.deep.equal([])
    expect(await events('/api/account', 'from=2020-01-01', mine)).to.deep.equal(all)
    expect((await events(`/api/key/${added['id']}`, '', mine)).map(({ type }) => type)).to.deep.equal([
      'ApiKeyDeleted',
      'ApiKeyAdded',
    ])
  })

  /** An account with two links, a channel and a key of its own, and what finds its events. */
  const searched = async () => {
    const { key: mine } = await app.register()
    const post = (path: string, body: object, as = mine) => app.post(path, { key: as, body })
    const idOf = async (answer: Promise<Answer>) => (await answer).json['id'] as number
    const spring = await idOf(post('/api/url/add', { url: 'https://example.com/Blossom', title: 'Spring sale' }))
    const other = await idOf(post('/api/url/add', { url: 'https://example.com/plain', title: 'Plain' }))
    const channel = await idOf(post('/api/channel/add', { name: 'Newsletter' }))
    await post(`/api/channel/${channel}/assign/links/${spring}`, {})
    const editor = (await post('/api/key/add', { name: 'Nightly import', scopes: ['links:write'] })).json
    await app.put(`/api/url/${other}/update`, {
      key: editor['key'] as string,
      body: { url: 'https://example.com/other' },
      headers: { 'X-Request-Id': 'import-81' },
    })
    await app.put(`/api/url/${spring}/update`, { key: mine, body: { url: 'https://example.com/b', archived: true } })
    const page = async (query: string) => {
      const { status, json, text } = await app.get(`/api/account/history?${query}`, { key: mine })
      expect(status, text).to.equal(200)
      return json['data'] as { result: number; maxpage: number; next_cursor?: string; events: readonly Entry[] }
    }
    const found = async (q: string, query = '') =>
      (await page(`q=${encodeURIComponent(q)}&${query}`)).events.map(({ type }) => type)
    return { mine, spring, other, channel, page, found }
  }

  it('finds events by type, name, field, value, author and request, in any letter case', async () => {
    const { found, spring, mine } = await searched()
    expect(await found('linkUPDATED')).to.deep.equal(['LinkUpdated', 'LinkUpdated'])
    expect(await found('Link changed')).to.deep.equal(['LinkUpdated', 'LinkUpdated'])
    // the name of the resource, also where the event does not have it
    expect(await found('spring SALE')).to.deep.equal(['LinkUpdated', 'ItemAssignedToChannel', 'LinkCreated'])
    expect(await found('newsletter')).to.deep.equal(['ItemAssignedToChannel', 'ChannelCreated'])
    expect(await found('archived')).to.deep.equal(['LinkUpdated'])
    // an old value, and a new one
    expect(await found('/blossom')).to.deep.equal(['LinkUpdated', 'LinkCreated'])
    expect(await found('example.com/b')).to.deep.equal(['LinkUpdated', 'LinkCreated'])
    expect(await found('nightly')).to.deep.equal(['LinkUpdated', 'ApiKeyAdded'])
    expect(await found('import-81')).to.deep.equal(['LinkUpdated'])
    expect(await found('nothing has this')).to.deep.equal([])
    const own = (await events(`/api/url/${spring}`, 'q=newsletter', mine)).map(({ type }) => type)
    expect(own).to.deep.equal(['ItemAssignedToChannel'])
  })

  it('given `q`, keeps the other filters, the order and the moment, and reads page after page', async () => {
    const { found, page, spring, mine } = await searched()
    expect(await found('spring', 'resource=url')).to.deep.equal(['LinkUpdated', 'LinkCreated'])
    expect(await found('spring', 'order=oldest')).to.deep.equal(['LinkCreated', 'ItemAssignedToChannel', 'LinkUpdated'])
    expect(await found('spring', 'to=2020-01-01')).to.deep.equal([])
    const [changed, assigned] = (await page('q=spring')).events
    expect(await found('spring', `at=event:${assigned!.event}`)).to.deep.equal(['ItemAssignedToChannel', 'LinkCreated'])
    await app.del(`/api/url/${spring}/delete`, { key: mine })
    expect(await found('spring', 'deleted=true')).to.deep.equal(['LinkDeleted'])
    expect(await found('plain', 'deleted=true')).to.deep.equal([])

    const all = (await page('q=spring')).events
    expect(all[1]).to.deep.equal(changed)
    const second = await page('q=spring&limit=3&page=2')
    expect([second.result, second.maxpage, second.events]).to.deep.equal([4, 2, all.slice(3)])
    const read: Entry[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const { result, events: some, next_cursor: next } = await page(`q=spring&limit=1&cursor=${cursor}`)
      expect(result).to.equal(4)
      read.push(...some)
      cursor = next
    }
    expect(read).to.deep.equal(all)
  })

  it('given more events than one request reads, continues after them by cursor, also without a hit', async () => {
    const { mine } = await searched()
    const account = Number((await app.get('/api/account', { key: mine })).json['data'].id)
    const { reader, ordinals, handler } = app.app.ledger
    const sources = { reader, ordinals, handler, originOf: () => '' }
    const pages: (readonly number[])[] = []
    for (let after: Position | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const request = { limit: 10, page: 1, after, order: 'date', q: ['plain'] } as const
      const { rows, total, next } = await findInHistory({ account }, {}, request, sources, { most: 2 })
      pages.push([total, rows.length])
      after = next
    }
    // nine events, of which the second and the sixth are about the link; each page has the number of the first one
    expect(pages).to.deep.equal([
      [1, 1],
      [1, 0],
      [1, 1],
      [1, 0],
      [1, 0],
    ])
  })

  it('given events of more bytes than one request reads, reports how many it has searched, and continues after them', async () => {
    const { key: mine, id: account } = await app.register()
    const rows = Array.from({ length: 60 }, (_, n) => ({ url: `https://example.com/${n % 6 === 0 ? 'six' : 'other'}` }))
    await app.post('/api/urls/bulk?op=create', { key: mine, body: { rows } })
    await until(
      () => app.get('/api/account/history?limit=1', { key: mine }),
      ({ json }) => json['data'].result > 60,
    )
    const { reader, ordinals, handler } = app.app.ledger
    const sources = { reader, ordinals, handler, originOf: () => '' }
    const pages: (readonly (number | undefined)[])[] = []
    for (let after: Position | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const request = { limit: 100, page: 1, after, order: 'oldest', q: ['/six'] } as const
      const { rows: found, searched, next } = await findInHistory({ account }, {}, request, sources, { bytes: 1 })
      pages.push([found.length, searched])
      after = next
    }
    expect(pages.map(([, searched]) => searched)).to.deep.equal([50, undefined])
    expect(pages.reduce((sum, [found = 0]) => sum + found, 0)).to.equal(10)
  })

  it('finds neither secrets nor data of other accounts', async () => {
    const { found, mine, spring } = await searched()
    await link({ title: 'Of a stranger' })
    expect(await found('stranger')).to.deep.equal([])
    await app.put(`/api/url/${spring}/update`, { key: mine, body: { password: 'opensesame' } })
    for (const secret of ['opensesame', 'scrypt', 'hash', 'token'])
      expect(await found(secret), secret).to.deep.equal([])
    const zero = await app.get('/api/account/history?q=%00', { key: mine })
    expect(zero.status, zero.text).to.equal(400)
  })

  it('is printed by `linkledger history`, of a resource, an address, an account or an event', async () => {
    const id = await link({ custom: 'printed', title: 'Spring' })
    await app.put(`/api/url/${id}/update`, { key, body: { url: 'https://example.com/b' } })
    await app.del(`/api/url/${id}/delete`, { key })
    const found = await events(`/api/url/${id}`)
    const settings = { DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET: app.config.SECRET ?? '' }
    const run = (...args: string[]) => runCommand(['history', ...args], settings)
    const json = async (...args: string[]) => {
      const { code, out, err } = await run(...args, '--json')
      expect([code, err], args.join(' ')).to.deep.equal([0, ''])
      return out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Entry)
    }
    const { out } = await run('link', String(id))
    expect(out).to.match(/ {2}Link deleted\. {2}by key 1 \(Main key\), request \S+\n/)
    expect(out).to.include('           longurl: "https://example.com/a" -> "https://example.com/b"\n')
    expect(await json('url', String(id))).to.deep.equal(found)
    expect(await json('http://localhost/printed')).to.deep.equal(found)
    expect(await json('event', String(found[1]?.event))).to.deep.equal([found[1]])
    const account = Number((await app.get('/api/account', { key })).json['data'].id)
    expect(await json('account', `id:${account}`, '--limit', '3')).to.deep.equal(found)
    expect(await json('account', `id:${account}`, '--search', 'example.com/B', '--limit', '1')).to.deep.equal([
      found[1],
    ])

    const wrong = [
      ['planet', '1'],
      ['link', 'x'],
      ['link', '1', '2'],
      ['event', '99999999'],
      ['nowhere-at-all'],
      ['link', '99999999'],
      ['campaign', '99999999'],
      ['link', '1', '--limit', '0'],
    ]
    for (const args of wrong) {
      const { code, out: nothing, err } = await run(...args)
      expect([code === 0, nothing, err === ''], args.join(' ')).to.deep.equal([false, '', false])
    }
    const unknown = await run('link', '99999999')
    expect(unknown).to.include({ code: 1, err: 'linkledger: there has never been a link with the id 99999999\n' })
    const unmatched = await run('link', String(id), '--search', 'no such text')
    expect(unmatched).to.include({ code: 0, out: 'There are no events.\n' })
  })
})
