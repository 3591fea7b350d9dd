import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { until } from '../../../support/client.ts'
import { visitAt } from '../../../support/host.ts'
import { withAt } from '../../../support/workload.ts'

describe('restoring a deleted or changed resource', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off', QUOTA_PIXELS: '2' })
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const ok = async (method: string, path: string, body?: object, as = key) => {
    const { json, text, status } = await app.ask(method, path, { key: as, ...(body && { body }) })
    expect(status, `${method} ${path} ${text}`).to.equal(200)
    return json
  }
  const create = async (path: string, body: object) => (await ok('POST', path, body))['id'] as number
  const url = 'https://example.com/a'
  const details = async (path: string) => (await ok('GET', path))['details'] as Record<string, unknown>
  /** Each change counts as one more revision, and visits of its addresses are no part of the link. */
  const withoutRevision = ({ revision: _, addresses: __, ...rest }: Record<string, unknown>) => rest

  it('brings a deleted link back with its alias, channels and password, as its deletion says, and it redirects at once', async () => {
    const channel = await create('/api/channel/add', { name: 'Print' })
    const custom = 'comes-back'
    const id = await create('/api/url/add', { url, custom, channel, notes: 'mine', tags: ['a'], title: 'Spring' })
    const before = await details(`/api/url/${id}`)
    expect((await app.visit(`/${custom}`)).status).to.equal(302)
    const { undo } = await ok('DELETE', `/api/url/${id}/delete`)
    expect(undo).to.deep.equal({ method: 'POST', path: `/api/url/${id}/restore` })
    expect((await app.visit(`/${custom}`)).status).to.equal(404)

    const wouldBe = await ok('POST', undo.path, { dryRun: true })
    expect(wouldBe).to.include({ dryRun: true, revision: 2 })
    expect((await app.visit(`/${custom}`)).status).to.equal(404)
    expect(await ok('POST', undo.path)).to.deep.include({
      message: 'Link has been restored.',
      changes: [],
      notRestored: [],
    })
    expect((await app.visit(`/${custom}`)).headers.get('Location')).to.equal(url)
    expect(withoutRevision(await details(`/api/url/${id}`))).to.deep.equal(withoutRevision(before))
    expect((await ok('GET', '/api/urls?q=comes-back'))['data'].urls[0]).to.include({ id })
    expect((await ok('GET', '/api/urls'))['data'].result).to.equal(1)
    expect(await ok('POST', undo.path)).to.include({ revision: 2 })
    const [last] = (await ok('GET', `/api/url/${id}/history`))['data'].events
    expect(last).to.include({ type: 'LinkRestored', message: 'Link restored.' })
  })

  it('restores a link to a revision or a moment, and shows the changes first', async () => {
    const id = await create('/api/url/add', { url, custom: 'first-name', title: 'One', password: 'opensesame' })
    const before = await details(`/api/url/${id}`)
    await ok('PUT', `/api/url/${id}/update`, {
      url: 'https://example.com/b',
      custom: 'second-name',
      keep_old: false,
      password: '',
      title: 'Two',
    })
    const [, created] = (await ok('GET', `/api/url/${id}/history`))['data'].events
    const dry = await ok('POST', `/api/url/${id}/restore`, { revision: 0, dryRun: true })
    expect(dry['changes']).to.have.deep.members([
      { field: 'longurl', old: 'https://example.com/b', new: url },
      { field: 'alias', old: 'second-name', new: 'first-name' },
      { field: 'title', old: 'Two', new: 'One' },
      { field: 'password', old: false, new: true },
    ])
    expect((await details(`/api/url/${id}`))['title']).to.equal('Two')
    const done = await ok('POST', `/api/url/${id}/restore`, { at: `event:${created.event}` })
    expect(done['changes']).to.deep.equal(dry['changes'])
    expect(withoutRevision(await details(`/api/url/${id}`))).to.deep.equal(withoutRevision(before))
    expect((await app.visit('/first-name')).text).to.include('password')
    expect((await app.visit('/second-name')).status).to.equal(404)
    const [last] = (await ok('GET', `/api/url/${id}/history`))['data'].events
    expect(last).to.deep.include({ message: 'Link set back to revision 0.', changes: done['changes'] })
  })

  it('refuses impossible requests, and names the cure', async () => {
    const custom = 'given-away'
    const id = await create('/api/url/add', { url, custom })
    await ok('DELETE', `/api/url/${id}/delete`)
    await create('/api/url/add', { url, custom })
    for (const dryRun of [true, false]) {
      const taken = await app.post(`/api/url/${id}/restore`, { key, body: { dryRun } })
      expect([taken.status, taken.json['message']]).to.deep.equal([
        409,
        'Link cannot be restored: That alias is taken. Rename or delete what has the name now, then restore again.',
      ])
    }
    const wrong: readonly [object, RegExp][] = [
      [{ revision: 9 }, /^`revision` must be one that the resource has had: 0 to 1/],
      [{ revision: 1 }, /^`revision` must be one at which it existed/],
      [{ at: '2020-01-01 00:00:00' }, /^`at` must be one at which it existed/],
      [{ at: 'yesterday' }, /^`at` must be a date and time/],
      [{ at: 'event:999999' }, /^`at` must not be later/],
      [{ at: 'event:1', revision: 0 }, /^Only one of/],
    ]
    for (const [body, message] of wrong) {
      const { status, json } = await app.post(`/api/url/${id}/restore`, { key, body })
      expect([status, json['message']], JSON.stringify(body)).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && message.test(text),
      )
    }
    const ifMatch = await app.post(`/api/url/${id}/restore`, {
      key,
      body: { dryRun: true },
      headers: { 'If-Match': '"7"' },
    })
    expect(ifMatch.status).to.be.oneOf([409, 412])
    const other = await app.register()
    expect((await app.post(`/api/url/${id}/restore`, { key: other.key, body: {} })).status).to.equal(404)
    expect((await app.get(`/api/url/${id}/history`, { key: other.key })).status).to.equal(404)
  })

  it('works for everything else that a client can delete, and keeps to the quotas', async () => {
    const made: Readonly<Record<string, number>> = {
      qr: await create('/api/qr/add', { type: 'text', data: 'Hello', foreground: 'rgb(0,0,128)' }),
      domain: await create('/api/domain/add', {
        domain: 'https://go.example.org',
        redirect404: 'https://example.com/404',
      }),
      channel: await create('/api/channel/add', { name: 'Print' }),
      campaign: await create('/api/campaign/add', { name: 'Spring', slug: 'spring' }),
      overlay: await create('/api/overlay/add', { type: 'message', name: 'o', message: 'Hello' }),
      splash: await create('/api/splash/add', { name: 's', label: 'Go' }),
      bio: await create('/api/bio/add', { name: 'Ann', alias: 'ann', links: [{ title: 'Shop', url }] }),
      pixel: await create('/api/pixel/add', { type: 'bing', name: 'p', tag: 'abc' }),
    }
    const id = await create('/api/url/add', {
      url,
      custom: 'on-brand',
      domain: 'https://go.example.org',
      pixels: [made['pixel']],
    })
    await ok('POST', `/api/campaign/${made['campaign']}/assign/${id}`)
    await ok('POST', `/api/channel/${made['channel']}/assign/qr/${made['qr']}`)
    const lists = [
      '/api/qr',
      '/api/domains',
      '/api/channels',
      '/api/campaigns',
      '/api/overlay',
      '/api/splash',
      '/api/bio',
      '/api/pixels',
    ]
    const seen = async () => {
      const all = await Promise.all(lists.map((path) => ok('GET', path)))
      const more = ['qr', 'overlay', 'splash', 'bio'].map((kind) => details(`/api/${kind}/${made[kind]}`))
      const link = await details(`/api/url/${id}`)
      const items = (await ok('GET', `/api/channel/${made['channel']}`))['data'].items as unknown
      return JSON.parse(
        JSON.stringify([all, await Promise.all(more), link, items], (name, value: unknown) =>
          name === 'revision' ? 0 : value,
        ),
      ) as unknown
    }
    const before = await seen()
    for (const [kind, one] of Object.entries(made)) {
      const { undo } = await ok('DELETE', `/api/${kind}/${one}/delete`)
      expect(undo, kind).to.deep.equal({ method: 'POST', path: `/api/${kind}/${one}/restore` })
    }
    const { notRestored } = await ok('POST', `/api/url/${id}/restore`, { revision: 0 })
    expect(notRestored.map(({ field, reason }: Record<string, string>) => ({ field, reason }))).to.deep.equal([
      { field: 'domain', reason: `Domain ${made['domain']} is deleted. Restore it, and it counts again.` },
      { field: 'pixels', reason: `Pixel ${made['pixel']} is deleted. Restore it, and it counts again.` },
    ])
    await ok('POST', `/api/url/${id}/restore`, { revision: 1 })
    for (const [kind, one] of Object.entries(made)) await ok('POST', `/api/${kind}/${one}/restore`, {})
    expect(await seen()).to.deep.equal(before)

    await ok('DELETE', `/api/pixel/${made['pixel']}/delete`)
    await create('/api/pixel/add', { type: 'bing', name: 'p', tag: 'abc' })
    await create('/api/pixel/add', { type: 'bing', name: 'p', tag: 'abc' })
    expect((await app.post(`/api/pixel/${made['pixel']}/restore`, { key, body: {} })).status).to.equal(403)
    await ok('PUT', `/api/domain/${made['domain']}/update`, { redirect404: '' })
    const back = await ok('POST', `/api/domain/${made['domain']}/restore`, { revision: 1 })
    expect(back['changes']).to.deep.equal([{ field: 'redirect404', old: '', new: 'https://example.com/404' }])
  })

  it('names everything deleted that a restored link, QR code, bio page or webhook refers to, as its dry run does', async () => {
    const own = await app.register()
    const as = (method: string, path: string, body?: object) => ok(method, path, body, own.key)
    const make = async (path: string, body: object) => (await as('POST', path, body))['id'] as number
    const host = 'https://parts.example.org'
    const made = {
      domain: await make('/api/domain/add', { domain: host }),
      campaign: await make('/api/campaign/add', { name: 'Autumn', slug: 'autumn' }),
      pixel: await make('/api/pixel/add', { type: 'bing', name: 'q', tag: 'abc' }),
      splash: await make('/api/splash/add', { name: 'q', label: 'Go' }),
      channel: await make('/api/channel/add', { name: 'Shelf' }),
    }
    const { campaign, channel, domain, pixel, splash } = made
    const body = { url, custom: 'has-all', domain: host, campaign, pixels: [pixel], type: `splash-${splash}`, channel }
    const link = await make('/api/url/add', body)
    const qr = await make('/api/qr/add', { type: 'text', data: 'Hello' })
    const bio = await make('/api/bio/add', { name: 'Bo', alias: 'bo', links: [{ title: 'Shop', url }] })
    for (const item of [`qr/${qr}`, `bio/${bio}`]) await as('POST', `/api/channel/${channel}/assign/${item}`)
    const hook = { url: 'https://example.com/hook', links: [link], channels: [channel], domains: [domain] }
    const webhook = await make('/api/webhook/add', { ...hook, campaigns: [campaign] })
    for (const path of [`url/${link}`, `qr/${qr}`, `bio/${bio}`]) await as('DELETE', `/api/${path}/delete`)
    const hookBack = await as('POST', `/api/webhook/${webhook}/restore`, { revision: 0 })
    expect(hookBack['notRestored'].map(({ field }: { field: string }) => field)).to.deep.equal(['links'])
    for (const [kind, id] of Object.entries(made)) await as('DELETE', `/api/${kind}/${id}/delete`)

    const gone = (field: string, what: keyof typeof made, label: string) => ({
      field,
      reason: `${label} ${made[what]} is deleted. Restore it, and it counts again.`,
      code: 'not_restored',
      params: { what, id: made[what] },
    })
    const inChannel = gone('channels', 'channel', 'Channel')
    const expected: Readonly<Record<string, readonly object[]>> = {
      [`url/${link}`]: [
        gone('domain', 'domain', 'Domain'),
        gone('campaign', 'campaign', 'Campaign'),
        gone('pixels', 'pixel', 'Pixel'),
        gone('type', 'splash', 'Splash page'),
        inChannel,
      ],
      [`qr/${qr}`]: [inChannel],
      [`bio/${bio}`]: [inChannel],
      [`webhook/${webhook}`]: [
        gone('campaigns', 'campaign', 'Campaign'),
        gone('channels', 'channel', 'Channel'),
        gone('domains', 'domain', 'Domain'),
      ],
    }
    for (const [path, notRestored] of Object.entries(expected))
      for (const dryRun of [true, false])
        expect((await as('POST', `/api/${path}/restore`, { dryRun }))['notRestored'], path).to.deep.equal(notRestored)

    const shown = async () => [
      (await as('GET', '/api/urls?q=has-all'))['data'].urls[0].status,
      (await as('GET', `/api/url/${link}`))['details'].status,
      (await visitAt(app.address, 'parts.example.org', '/has-all', {})).status,
    ]
    expect(await shown()).to.deep.equal(['unreachable', 'unreachable', 404])
    const at = (await app.get('/api/account', { key: own.key })).headers.get('Linkledger-At') ?? ''
    for (const [kind, id] of Object.entries(made)) await as('POST', `/api/${kind}/${id}/restore`, {})
    expect((await as('POST', `/api/url/${link}/restore`, { revision: 0 }))['notRestored']).to.deep.equal([])
    expect(await shown()).to.deep.equal(['active', 'active', 200])
    expect((await as('GET', withAt('/api/urls?q=has-all', at)))['data'].urls[0].status).to.equal('unreachable')
  })

  it('says that visitors get 404 as long as the domain of a restored link is not verified', async () => {
    const checking = await startTestApp({ DOMAIN_CHECK: 'txt' }, app.connection)
    try {
      const ask = async (method: string, path: string, body: object) =>
        (await checking.ask(method, path, { key, body })).json
      const host = 'https://unproven.example.org'
      const { id: domain } = await ask('POST', '/api/domain/add', { domain: host })
      const { id } = await ask('POST', '/api/url/add', { url, custom: 'unproven', domain: host })
      expect((await details(`/api/url/${id}`))['status']).to.equal('unreachable')
      await ask('DELETE', `/api/url/${id}/delete`, {})
      expect((await ask('POST', `/api/url/${id}/restore`, {}))['notRestored']).to.deep.equal([
        {
          field: 'domain',
          reason: `Domain ${domain} is not verified, so that visitors get 404. Verify it with POST /api/domain/${domain}/verify.`,
          code: 'not_restored',
          params: { what: 'unverified', id: domain },
        },
      ])
    } finally {
      await checking.close()
    }
  })

  it('sets a webhook back to an earlier version, and says that a deleted one cannot come back', async () => {
    const own = await app.register()
    const as = (method: string, path: string, body?: object) => ok(method, path, body, own.key)
    const made = await as('POST', '/api/url/add', { url })
    const hook = { name: 'One', url: 'https://example.com/hook', events: ['LinkCreated'], links: [made['id']] }
    const { id, secret } = await as('POST', '/api/webhook/add', hook)
    const path = `/api/webhook/${id}`
    const shown = async () => {
      const { name, url: address, events, links, tags, status } = (await as('GET', path))['details']
      return { name, url: address, events, links, tags, status }
    }
    const before = await shown()
    await as('PUT', `${path}/update`, {
      name: 'Two',
      url: 'https://example.net/hook',
      events: ['clicks'],
      links: [],
      tags: ['a'],
      enabled: false,
    })
    await as('POST', `${path}/rotate`, {})
    // what it was about is deleted by now
    await as('DELETE', `/api/url/${made['id']}/delete`)
    const changed = await shown()
    const dry = await as('POST', `${path}/restore`, { revision: 0, dryRun: true })
    expect(dry['changes'].map(({ field }: { field: string }) => field)).to.have.members([
      'name',
      'url',
      'events',
      'links',
      'tags',
      'enabled',
    ])
    expect(dry['notRestored'].map(({ field }: { field: string }) => field)).to.deep.equal(['secret', 'links'])
    expect(await shown()).to.deep.equal(changed)
    const done = await as('POST', `${path}/restore`, { revision: 0 })
    expect(done['changes']).to.deep.equal(dry['changes'])
    expect(await shown()).to.deep.equal(before)
    const { events } = (await as('GET', `${path}/history`))['data']
    expect(events.map(({ message }: { message: string }) => message)).to.include('Webhook set back to revision 0.')
    expect(JSON.stringify([dry, done, events])).to.not.include(secret)
    expect((await as('POST', `${path}/restore`, {}))['message']).to.equal(
      'Nothing to restore: the webhook is not deleted, and no field differs.',
    )

    const { key: stranger } = await app.register()
    expect((await app.post(`${path}/restore`, { key: stranger, body: { revision: 0 } })).status).to.equal(404)
    expect((await as('DELETE', `${path}/delete`))['undo']).to.equal(null)
    const gone = await app.post(`${path}/restore`, { key: own.key, body: {} })
    expect([gone.status, gone.json['message']]).to.satisfy(
      ([status, text]: [number, string]) => status === 409 && text.includes('POST /api/webhook/add'),
    )
  })

  it('does not let a key send data that it may not read with a former version of a webhook', async () => {
    const own = await app.register()
    const as = (body: object, path: string, method = 'POST') => ok(method, path, body, own.key)
    const hook = { name: 'One', url: 'https://example.com/hook', events: ['ApiKeyAdded'] }
    const { id } = await as(hook, '/api/webhook/add')
    const { key: lesser } = await as({ name: 'Hooks', scopes: ['webhooks', 'read'] }, '/api/key/add')
    const path = `/api/webhook/${id}`
    await as({ events: ['LinkCreated'] }, `${path}/update`, 'PUT')
    const back = await app.post(`${path}/restore`, { key: lesser as string, body: { revision: 0 } })
    expect([back.status, back.json['message']]).to.satisfy(
      ([status, text]: [number, string]) => status === 403 && text.includes('ApiKeyAdded'),
    )
    expect((await as({ revision: 0 }, `${path}/restore`))['changes']).to.deep.equal([
      { field: 'events', old: ['LinkCreated'], new: ['ApiKeyAdded'] },
    ])
  })

  it('restores the exclusions of an account, which its history shows, and reports that a second factor stays', async () => {
    const own = await app.register()
    const as = (method: string, path: string, body?: object) => ok(method, path, body, own.key)
    const none = { agents: [], countries: [], hours: [], visitors: [] }
    const first = (await as('GET', '/api/account/history'))['data'].events[0].revision as number
    await as('PUT', '/api/account/exclusions', { agents: ['uptime'] })
    const [entry] = (await as('GET', '/api/account/history'))['data'].events
    const excluded = { ...none, agents: ['uptime'] }
    expect(entry).to.deep.include({
      type: 'AccountExclusionsSet',
      changes: [{ field: 'exclusions', old: none, new: excluded }],
    })
    const dry = await as('POST', '/api/account/restore', { revision: first, dryRun: true })
    expect(dry['changes']).to.deep.equal([{ field: 'exclusions', old: excluded, new: none }])
    expect((await as('GET', '/api/account/exclusions'))['data']).to.deep.equal(excluded)
    await as('POST', '/api/account/restore', { revision: first })
    expect((await as('GET', '/api/account/exclusions'))['data']).to.deep.equal(none)
    const [last] = (await as('GET', '/api/account/history'))['data'].events
    expect(last).to.deep.include({ type: 'AccountExclusionsSet', message: `Account set back to revision ${first}.` })
    await as('POST', '/api/account/restore', { revision: entry.revision })
    expect((await as('GET', '/api/account/exclusions'))['data']).to.deep.equal(excluded)
  })

  it('answers every deletion with how to take it back, or that this is impossible', async () => {
    const [one, two] = [await create('/api/url/add', { url }), await create('/api/url/add', { url })]
    const channel = await create('/api/channel/add', { name: 'Print' })
    const item = `/api/channel/${channel}/assign/links/${one}`
    await ok('POST', item)
    const taken = await ok('DELETE', item)
    expect(taken['undo']).to.deep.equal({ method: 'POST', path: item })
    await ok('POST', taken['undo'].path)
    expect((await details(`/api/url/${one}`))['channels']).to.deep.equal([channel])

    const bulk = await ok('POST', '/api/urls/bulk?op=delete', { rows: [{ id: one }, { id: two }] })
    for (const { id, undo } of bulk['rows'] as { id: number; undo: { path: string } }[]) {
      expect(undo).to.deep.equal({ method: 'POST', path: `/api/url/${id}/restore` })
      await ok('POST', undo.path)
    }
    expect((await details(`/api/url/${one}`))['id']).to.equal(one)

    const added = await ok('POST', '/api/key/add', { name: 'Two', scopes: ['read'] })
    expect(await ok('DELETE', `/api/key/${added['id']}/delete`)).to.include({
      message: 'API key has been deleted. It cannot come back: create a new one.',
      undo: null,
    })
  })

  it('names the resource as other responses do, when there is nothing to restore', async () => {
    const qr = await create('/api/qr/add', { type: 'text', data: 'Hello' })
    expect((await ok('POST', `/api/qr/${qr}/restore`, {}))['message']).to.equal(
      'Nothing to restore: the QR code is not deleted, and no field differs.',
    )
  })

  it('gives an account its former e-mail address and password, and a key its former rights, but never a key that has ended', async () => {
    const own = await app.register()
    const added = await ok('POST', '/api/key/add', { name: 'Two', scopes: ['read'] }, own.key)
    const { events } = (await ok('GET', '/api/account/history', undefined, own.key))['data'] as {
      events: { revision: number }[]
    }
    const revision = events[0]!.revision
    await ok('PUT', '/api/account/update', { email: `new-${own.email}`, password: 'another one 1' }, own.key)
    await ok('PUT', `/api/key/${added['id']}/update`, { name: 'Renamed', scopes: ['read', 'write'] }, own.key)
    const answer = await ok('POST', '/api/account/restore', { revision }, own.key)
    expect(answer['changes']).to.deep.equal([
      { field: 'email', old: `new-${own.email}`, new: own.email },
      { field: 'password', old: true, new: true },
    ])
    expect((await ok('GET', '/api/account', undefined, own.key))['data'].email).to.equal(own.email)
    const keyBack = await ok('POST', `/api/key/${added['id']}/restore`, { revision }, own.key)
    expect(keyBack['changes']).to.deep.equal([
      { field: 'name', old: 'Renamed', new: 'Two' },
      { field: 'scopes', old: ['read', 'write'], new: ['read'] },
    ])
    await ok('DELETE', `/api/key/${added['id']}/delete`, undefined, own.key)
    const ended = await app.post(`/api/key/${added['id']}/restore`, { key: own.key, body: { revision } })
    expect(ended.status).to.equal(409)
    expect(
      await until(
        async () => (await app.get('/api/urls', { key: added['key'] as string })).status,
        (s) => s === 401,
      ),
    ).to.equal(401)
  })

  it('is done once for an Idempotency-Key, by any process, and next to other changes', async () => {
    const other = await startTestApp({ DOMAIN_CHECK: 'off' }, app.connection)
    try {
      const id = await create('/api/url/add', { url, custom: 'once-only', title: 'One' })
      await ok('DELETE', `/api/url/${id}/delete`)
      const headers = { 'Idempotency-Key': 'bring-it-back' }
      const send = (to: TestApp) => to.post(`/api/url/${id}/restore`, { key, body: {}, headers })
      const [first, again] = [await send(app), await send(other)]
      expect([first.status, again.status, again.text]).to.deep.equal([200, 200, first.text])
      expect(again.headers.get('Idempotent-Replayed')).to.equal('true')
      expect((await other.visit('/once-only')).status).to.equal(302)

      const update = (to: TestApp, title: string) => to.put(`/api/url/${id}/update`, { key, body: { url, title } })
      const back = (to: TestApp) => to.post(`/api/url/${id}/restore`, { key, body: { revision: 0 } })
      await update(app, 'Two')
      const answers = await Promise.all([back(app), update(other, 'Three'), back(other), update(app, 'Four')])
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200])
      const { events } = (await ok('GET', `/api/url/${id}/history`))['data'] as {
        events: { type: string; changes: { field: string; old: unknown; new: unknown }[] }[]
      }
      expect(events.filter(({ type }) => type === 'LinkDeleted')).to.have.length(1)
      // each change begins with what the one before it has left
      const titles = events.flatMap(({ changes }) => changes.filter(({ field }) => field === 'title')).toReversed()
      for (const [n, title] of titles.entries()) expect(title.old).to.equal(n === 0 ? null : titles[n - 1]?.new)
      expect((await details(`/api/url/${id}`))['title']).to.equal(titles.at(-1)?.new)
    } finally {
      await other.close()
    }
  })

  it('shows the values of fields only to a key that may read them', async () => {
    const { key } = await app.register()
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://secret.example.com/a' } })
    await app.put(`/api/url/${json['id']}/update`, { key, body: { url: 'https://secret.example.com/b' } })
    const made = await app.post('/api/key/add', { key, body: { name: 'x', scopes: ['links:write'] } })
    const writer = String(made.json['key'])
    const restored = (by: string, dryRun: boolean) =>
      app.post(`/api/url/${json['id']}/restore`, { key: by, body: { revision: 0, dryRun } })
    expect((await restored(key, true)).json['changes']).to.deep.equal([
      { field: 'longurl', old: 'https://secret.example.com/b', new: 'https://secret.example.com/a' },
    ])
    for (const dryRun of [true, false]) {
      const answer = await restored(writer, dryRun)
      expect([answer.status, answer.json['changes']]).to.deep.equal([200, [{ field: 'longurl' }]])
      expect(answer.text).not.to.include('secret.example.com')
    }
  })

  it('gives a stored answer with values to no key that may not read them', async () => {
    const { key } = await app.register()
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://secret.example.com/a' } })
    await app.put(`/api/url/${json['id']}/update`, { key, body: { url: 'https://secret.example.com/b' } })
    const keyWith = async (scopes: readonly string[]) =>
      String((await app.post('/api/key/add', { key, body: { name: 'x', scopes } })).json['key'])
    const [reader, writer] = [await keyWith(['links:write', 'read']), await keyWith(['links:write'])]
    const restored = (by: string, name: string) =>
      app.post(`/api/url/${json['id']}/restore`, {
        key: by,
        body: { revision: 0, dryRun: true },
        headers: { 'Idempotency-Key': name },
      })
    for (const [name, by] of Object.entries({ owner: key, reader })) {
      expect((await restored(by, name)).text).to.include('secret.example.com')
      expect((await restored(by, name)).headers.get('Idempotent-Replayed')).to.equal('true')
      const answer = await restored(writer, name)
      expect(answer.status).to.equal(422)
      expect(answer.text).not.to.include('secret.example.com')
    }
    // a key with the same rights is as good as the one that has asked
    expect((await restored(writer, 'mine')).json['changes']).to.deep.equal([{ field: 'longurl' }])
    const again = await restored(await keyWith(['links:write']), 'mine')
    expect([again.status, again.headers.get('Idempotent-Replayed')]).to.deep.equal([200, 'true'])
  })

  it('gives an alias to the newest link that has it, and nothing to another account', async () => {
    const own = { url, custom: 'again-and-again' }
    const first = await create('/api/url/add', own)
    await ok('DELETE', `/api/url/${first}/delete`)
    const second = await create('/api/url/add', own)
    const at = (await app.get('/api/account', { key })).headers.get('Linkledger-At') ?? ''
    expect((await app.post(`/api/url/${first}/restore`, { key, body: {} })).status).to.equal(409)
    expect((await app.get(withAt('/api/urls?short=again-and-again', at), { key })).json['data'].urls[0].id).to.equal(
      second,
    )
    const { key: stranger } = await app.register()
    const foreign = [
      ...['restore', 'rehearse'].map((action) =>
        app.post(`/api/url/${first}/${action}`, { key: stranger, body: { draft: {} } }),
      ),
      ...['history', 'revisions'].map((list) => app.get(withAt(`/api/url/${first}/${list}`, at), { key: stranger })),
      app.post('/api/account/reclassify', { key: stranger, body: { link: second, dryRun: true } }),
      app.get(withAt('/api/account/history', at), { key: stranger }),
    ]
    // at that moment, the account did not exist
    expect((await Promise.all(foreign)).map(({ status }) => status)).to.deep.equal([404, 404, 404, 404, 404, 200])
    expect((await foreign[5]!).json['data'].events).to.deep.equal([])
  })
})
