import { expect } from 'chai'
import { carryOutErasures } from '../../../src/app/jobs/erasure.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { samePage, signIn } from '../../support/session.ts'

type Session = Awaited<ReturnType<typeof signIn>>
interface Person extends Awaited<ReturnType<TestApp['register']>> {
  readonly session: Session
}

describe('members of an account', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
  })
  after(() => app.close())

  const person = async (): Promise<Person> => {
    const made = await app.register()
    return { ...made, session: await signIn(app, made.email) }
  }
  /** Asks as a person who has chosen an account. */
  const asked = ({ session }: Person, account: number, method: string, path: string, body?: object) =>
    session.ask(method, path, body, { 'Linkledger-Account': String(account) })
  const invite = async (by: Person, account: number, role: string) => {
    const { json } = await asked(by, account, 'POST', '/api/member/invite', { role })
    const link = new URL(String(json['link']))
    return { id: Number(json['id']), link, token: link.searchParams.get('t') ?? '' }
  }
  const join = async (owner: Person, who: Person, role: string) => {
    const { id, token } = await invite(owner, owner.id, role)
    const { json } = await who.session.ask('POST', '/api/invitation/accept', { token })
    expect(json).to.deep.equal({ error: 0, account: owner.id, role })
    return id
  }
  const failure = ({ status, json }: Answer) => [status, json['code']]
  const addLink = async (who: Person, account: number) =>
    Number((await asked(who, account, 'POST', '/api/url/add', { url: 'https://example.com/a' })).json['id'])

  it('work in it once they have accepted, and history names the author of each change', async () => {
    const [ann, ben] = [await person(), await person()]
    const { token } = await invite(ann, ann.id, 'editor')
    const found = await ben.session.ask('POST', '/api/invitation', { token })
    expect(found.json['data']).to.include({ account: ann.id, name: ann.username, role: 'editor' })
    expect(failure(await asked(ben, ann.id, 'GET', '/api/urls'))).to.deep.equal([404, 'not_found'])
    await ben.session.ask('POST', '/api/invitation/accept', { token })

    const link = await addLink(ben, ann.id)
    const { json, headers } = await asked(ben, ann.id, 'GET', '/api/urls')
    expect(json['data'].urls.map(({ id }: { id: number }) => id)).to.deep.equal([link])
    expect(headers.get('Linkledger-Account')).to.equal(String(ann.id))
    expect((await ben.session.ask('GET', '/api/urls')).json['data'].result).to.equal(0)
    expect((await ben.session.ask('GET', `/api/urls?account=${ann.id}`)).json['data'].result).to.equal(1)

    const history = await ann.session.ask('GET', `/api/url/${link}/history`)
    const by = { kind: 'session', member: { id: 2, name: ben.username, role: 'editor' } }
    expect(history.json['data'].events[0].actor).to.deep.equal(by)
    const revisions = await ann.session.ask('GET', `/api/url/${link}/revisions`)
    expect(revisions.json['data'].revisions[0].actor).to.deep.equal(by)
    const all = await ann.session.ask('GET', `/api/account/history?q=${ben.username}`)
    expect(all.json['data'].events.map(({ type }: { type: string }) => type)).to.deep.equal([
      'LinkCreated',
      'MemberJoined',
    ])
    const own = await ann.session.ask('GET', '/api/memberships')
    expect(own.json['data'].memberships).to.deep.equal([
      { account: ann.id, name: ann.username, role: 'owner', own: true, team: false, erases: '' },
    ])
    const bens = await ben.session.ask('GET', '/api/memberships')
    expect(bens.json['data'].memberships[1]).to.deep.equal({
      account: ann.id,
      name: ann.username,
      role: 'editor',
      own: false,
      team: false,
      erases: '',
    })
  })

  it('are listed with their roles, and invitations with where they went', async () => {
    const [ann, ben] = [await person(), await person()]
    await join(ann, ben, 'auditor')
    await ann.session.ask('POST', '/api/member/invite', { role: 'analyst', email: 'Cleo@example.com' })
    const { json } = await asked(ben, ann.id, 'GET', '/api/members?order=oldest')
    const rows = json['data'].members as {
      name: string
      email: string
      role: string
      status: string
      current: boolean
    }[]
    expect(rows.map(({ name, email, role, status, current }) => [name, email, role, status, current])).to.deep.equal([
      [ann.username, ann.email, 'owner', 'active', false],
      [ben.username, ben.email, 'auditor', 'active', true],
      ['', 'cleo@example.com', 'analyst', 'invited', false],
    ])
  })

  it('accept an invitation once, however many try at the same moment', async () => {
    const ann = await person()
    const { token } = await invite(ann, ann.id, 'analyst')
    const guests = [await person(), await person(), await person(), await person()]
    const answers = await Promise.all(
      guests.map(({ session }) => session.ask('POST', '/api/invitation/accept', { token })),
    )
    expect(answers.map(({ status }) => status)).to.have.members([200, 404, 404, 404])
    expect((await ann.session.ask('GET', '/api/members')).json['data'].result).to.equal(2)
  })

  it('are not made by an invitation that was taken back or has ended', async () => {
    const [ann, ben] = [await person(), await person()]
    const [back, late] = [await invite(ann, ann.id, 'editor'), await invite(ann, ann.id, 'editor')]
    await ann.session.ask('DELETE', `/api/member/${back.id}/delete`)
    await query(app.connection, `update state.one_time_links set expires_at = now() where kind = 'invitation'`)
    for (const { token } of [back, late])
      expect(failure(await ben.session.ask('POST', '/api/invitation/accept', { token }))).to.deep.equal([
        404,
        'not_found',
      ])
  })

  it('have the rights of their role, from the request on that changes it', async () => {
    const [ann, ben] = [await person(), await person()]
    const id = await join(ann, ben, 'analyst')
    const adds = async () => (await asked(ben, ann.id, 'POST', '/api/url/add', { url: 'https://example.com/a' })).status
    expect(await adds()).to.equal(403)
    await ann.session.ask('PUT', `/api/member/${id}/update`, { role: 'editor' })
    expect(await adds()).to.equal(200)
    expect(failure(await asked(ben, ann.id, 'GET', '/api/keys'))).to.deep.equal([403, 'lacks_rights'])
    await ann.session.ask('DELETE', `/api/member/${id}/delete`)
    expect(await adds()).to.equal(404)
  })

  it('give no more than they have, and an owner stays', async () => {
    const [ann, ben, cleo] = [await person(), await person(), await person()]
    const [admin, owner] = [await join(ann, ben, 'admin'), await join(ann, cleo, 'owner')]
    const put = (who: Person, id: number, role: string) =>
      asked(who, ann.id, 'PUT', `/api/member/${id}/update`, { role })
    expect(failure(await put(ben, admin, 'owner'))).to.deep.equal([403, 'lacks_rights'])
    expect(failure(await put(ben, owner, 'analyst'))).to.deep.equal([403, 'lacks_rights'])
    expect(failure(await asked(ben, ann.id, 'DELETE', `/api/member/${owner}/delete`))).to.deep.equal([
      403,
      'lacks_rights',
    ])
    expect(failure(await put(cleo, 1, 'analyst'))).to.deep.equal([403, 'lacks_rights'])
    expect(failure(await asked(cleo, ann.id, 'DELETE', '/api/member/1/delete'))).to.deep.equal([403, 'lacks_rights'])
    expect((await put(cleo, admin, 'owner')).status).to.equal(200)
    // also by a key of an owner: who finds it must not become one
    const invited = await app.post('/api/member/invite', { key: ann.key, body: { role: 'owner' } })
    expect(failure(invited)).to.deep.equal([403, 'lacks_rights'])
  })

  it('are invited, and get roles and keys, by a key that nothing limits, and by no other one', async () => {
    const [ann, ben, cleo] = [await person(), await person(), await person()]
    const [left, heir] = [await join(ann, ben, 'admin'), await join(ann, cleo, 'editor')]
    const scopes = ['read', 'write', 'links:write', 'stats:read', 'account']
    const add = async (limits: object) => {
      const { json } = await asked(ben, ann.id, 'POST', '/api/key/add', { name: 'x', scopes, ...limits })
      return String(json['key'])
    }
    const [expires, addresses] = [new Date(Date.now() + 3_600_000).toISOString(), ['127.0.0.0/8', '::1']]
    for (const limits of [{ scopes: ['account'] }, { expires }, { addresses }]) {
      const key = await add(limits)
      for (const answer of [
        await app.post('/api/member/invite', { key, body: { role: 'admin' } }),
        await app.put(`/api/member/${heir}/update`, { key, body: { role: 'admin' } }),
        await app.del(`/api/member/${left}/delete?to=${heir}`, { key }),
      ]) {
        expect(failure(answer), JSON.stringify(limits)).to.deep.equal([403, 'lacks_rights'])
        expect(answer.json['message']).to.match(/Only an API key with all scopes, no end and no networks/)
      }
    }
    const key = await add({})
    expect((await app.post('/api/member/invite', { key, body: { role: 'admin' } })).status).to.equal(200)
    expect((await app.put(`/api/member/${heir}/update`, { key, body: { role: 'author' } })).status).to.equal(200)
    const removed = await app.del(`/api/member/${left}/delete?to=${heir}`, { key: ann.key })
    expect(removed.status).to.equal(200)
  })

  it('are invited by a key whose scopes include all others, without naming them', async () => {
    const [ann, ben] = [await person(), await person()]
    await join(ann, ben, 'admin')
    for (const [scopes, status] of [
      [['read', 'write', 'account'], 200],
      [['read', 'links:write', 'account'], 403],
      [['stats:read', 'write', 'account'], 403],
    ] as const) {
      const { json } = await asked(ben, ann.id, 'POST', '/api/key/add', { name: 'x', scopes })
      const invited = await app.post('/api/member/invite', { key: String(json['key']), body: { role: 'editor' } })
      expect(invited.status, scopes.join()).to.equal(status)
    }
  })

  it('are none by any other number, before anything else is looked at', async () => {
    const [ann, ben, cleo] = [await person(), await person(), await person()]
    const [there, here] = [await join(ann, ben, 'editor'), await join(cleo, ben, 'editor')]
    expect([there, here]).to.deep.equal([2, 2])
    await invite(ann, ann.id, 'editor')
    for (const id of ['3', '999999', '0', '-1', '1.5', 'abc', '%32']) {
      for (const [method, path] of [
        ['PUT', `/api/member/${id}/update`],
        ['DELETE', `/api/member/${id}/delete`],
        ['DELETE', `/api/membership/${id}/delete`],
      ] as const)
        expect(failure(await cleo.session.ask(method, path, {})), `${method} ${path}`).to.deep.equal([404, 'not_found'])
    }
  })

  it('leave by themselves', async () => {
    const [ann, ben] = [await person(), await person()]
    await join(ann, ben, 'analyst')
    const leave = () => ben.session.ask('DELETE', `/api/membership/${ann.id}/delete`)
    expect((await leave()).status).to.equal(200)
    expect((await leave()).status).to.equal(404)
    expect((await asked(ben, ann.id, 'GET', '/api/urls')).status).to.equal(404)
  })

  it('lose rights of their keys with those of their role, and all with their membership', async () => {
    const [ann, ben] = [await person(), await person()]
    const id = await join(ann, ben, 'admin')
    const made = await asked(ben, ann.id, 'POST', '/api/key/add', {
      name: 'sync',
      scopes: ['write', 'read', 'account'],
    })
    const key = String(made.json['key'])
    const link = await app.post('/api/url/add', { key, body: { url: 'https://example.com/a' } })
    const { json } = await ann.session.ask('GET', `/api/url/${String(link.json['id'])}/history`)
    expect(json['data'].events[0].actor).to.deep.include({
      name: 'sync',
      member: { id, name: ben.username, role: 'admin' },
    })
    const listed = await ann.session.ask('GET', '/api/keys')
    expect(listed.json['data'].keys[0].member).to.deep.equal({ id, name: ben.username, role: 'admin' })

    const status = async (path: string) => (await app.get(path, { key })).status
    expect([await status('/api/keys'), await status('/api/urls')]).to.deep.equal([200, 200])
    // how the account is signed in to is its own sign-in's
    const password = { key, body: { password: 'another one 1' } }
    expect(failure(await app.put('/api/account/update', password))).to.deep.equal([403, 'lacks_rights'])
    expect(failure(await app.get('/api/sessions', { key }))).to.deep.equal([403, 'lacks_rights'])
    await ann.session.ask('PUT', `/api/member/${id}/update`, { role: 'editor' })
    expect([await status('/api/keys'), await status('/api/urls')]).to.deep.equal([403, 200])
    await ann.session.ask('DELETE', `/api/member/${id}/delete`)
    expect(await status('/api/urls')).to.equal(401)
  })

  it('cannot replace the key of another member', async () => {
    const [ann, ben] = [await person(), await person()]
    await join(ann, ben, 'admin')
    expect(failure(await asked(ben, ann.id, 'POST', '/api/key/1/rotate', {}))).to.deep.equal([403, 'lacks_rights'])
  })

  it('have their own settings, whichever account they have chosen', async () => {
    const [ann, ben] = [await person(), await person()]
    await join(ann, ben, 'admin')
    expect((await asked(ben, ann.id, 'GET', '/api/account')).json['data'].id).to.equal(ben.id)
    const changed = await asked(ben, ann.id, 'PUT', '/api/account/update', { timezone: 'Europe/Berlin' })
    expect(changed.status).to.equal(200)
    expect((await ann.session.ask('GET', '/api/account')).json['data'].timezone).to.equal('UTC')
  })

  it('take away from the key of the registration that it may set a password', async () => {
    const [ann, ben] = [await person(), await person()]
    await join(ann, ben, 'analyst')
    const body = { password: 'another one 1' }
    expect((await app.put('/api/account/update', { key: ann.key, body })).status).to.equal(400)
    const current = { ...body, current_password: 'correct horse 1' }
    expect((await app.put('/api/account/update', { key: ann.key, body: current })).status).to.equal(200)
  })

  it('keep the account from being erased', async () => {
    const [ann, ben] = [await person(), await person()]
    const id = await join(ann, ben, 'analyst')
    const erase = () => ann.session.ask('POST', '/api/account/erase', { current_password: 'correct horse 1' })
    expect(failure(await erase())).to.deep.equal([403, 'lacks_rights'])
    await ann.session.ask('DELETE', `/api/member/${id}/delete`)
    expect((await erase()).status).to.equal(200)
  })

  it('join by the page of an invitation, with an account that it makes', async () => {
    const ann = await person()
    const { link } = await invite(ann, ann.id, 'editor')
    const page = await app.get(link.pathname + link.search)
    expect(page.text).to.include(ann.username)
    const email = `guest-${ann.id}@example.com`
    const post = (address: string) =>
      app.post(link.pathname, {
        body: String(
          new URLSearchParams({ t: link.searchParams.get('t') ?? '', email: address, password: 'correct horse 1' }),
        ),
        headers: { ...samePage(app.address), 'Content-Type': 'application/x-www-form-urlencoded' },
      })
    const taken = await post(ann.email)
    expect([taken.status, taken.text.includes('has an account already')], 'the link stays').to.deep.equal([400, true])
    const posted = await post(email)
    expect(posted.status, posted.text).to.equal(200)
    expect(posted.text).to.include(`/dashboard/@${ann.id}`)
    const guest = await signIn(app, email)
    expect((await guest.ask('GET', '/api/memberships')).json['data'].memberships[1]).to.include({
      account: ann.id,
      role: 'editor',
    })
  })

  it('are not added by an invitation of a person who may not enter their own account', async () => {
    const [ann, ben, eve] = [await person(), await person(), await person()]
    await join(ann, ben, 'admin')
    const { handler } = app.app.ledger
    const set = (type: 'DeactivateAccount' | 'ReactivateAccount' | 'DisableAccount', { id }: Person) =>
      handler.handle(accounts, { type, id }, systemMetadata(id))
    const invited = [await invite(ben, ann.id, 'admin'), await invite(ann, ann.id, 'admin')]
    const accept = async ({ token }: { readonly token: string }) =>
      failure(await eve.session.ask('POST', '/api/invitation/accept', { token }))
    const refused = [404, 'not_found']
    for (const one of [ben, ann]) await set('DeactivateAccount', one)
    expect([await accept(invited[0]!), await accept(invited[1]!)]).to.deep.equal([refused, refused])
    for (const one of [ben, ann]) await set('ReactivateAccount', one)
    await set('DisableAccount', ben)
    expect(await accept(invited[0]!)).to.deep.equal(refused)
    expect((await accept(invited[1]!))[0]).to.equal(200)
  })

  it('are not added by an invitation of a person who may no longer give its role', async () => {
    const [ann, ben, puppet] = [await person(), await person(), await person()]
    const id = await join(ann, ben, 'admin')
    const [one, two] = [await invite(ben, ann.id, 'admin'), await invite(ben, ann.id, 'editor')]
    const accept = async ({ token }: { readonly token: string }) =>
      failure(await puppet.session.ask('POST', '/api/invitation/accept', { token }))
    await ann.session.ask('PUT', `/api/member/${id}/update`, { role: 'author' })
    expect(await accept(one)).to.deep.equal([404, 'not_found'])
    await ann.session.ask('DELETE', `/api/member/${id}/delete`)
    expect(await accept(two)).to.deep.equal([404, 'not_found'])
  })

  it('join by an invitation only while the member who changed it last may give its role', async () => {
    const [ann, ben, eve, guest] = [await person(), await person(), await person(), await person()]
    const id = await join(ann, ben, 'admin')
    const change = async (by: Person, one: { readonly id: number }, role: string) =>
      expect((await asked(by, ann.id, 'PUT', `/api/member/${one.id}/update`, { role })).status).to.equal(200)
    const [own, raised] = [await invite(ben, ann.id, 'analyst'), await invite(ben, ann.id, 'analyst')]
    await change(ben, own, 'admin')
    await change(ann, raised, 'owner')
    await ann.session.ask('DELETE', `/api/member/${id}/delete`)
    const accept = async (who: Person, { token }: { readonly token: string }) =>
      (await who.session.ask('POST', '/api/invitation/accept', { token })).status
    expect([await accept(eve, own), await accept(guest, raised)]).to.deep.equal([404, 200])
  })

  it('become former members once they are erased: their invitations end, and handed-over keys come with a warning', async () => {
    const [ann, ben, cem, eve] = [await person(), await person(), await person(), await person()]
    const [first, second] = [await join(ann, ben, 'admin'), await join(ann, cem, 'editor')]
    const { token } = await invite(ben, ann.id, 'admin')
    const { handler, reader } = app.app.ledger
    for (const { id } of [ben, cem]) await handler.handle(accounts, { type: 'EraseAccount', id }, systemMetadata(id))
    expect(failure(await eve.session.ask('POST', '/api/invitation/accept', { token }))).to.deep.equal([
      404,
      'not_found',
    ])
    expect(failure(await ann.session.ask('PUT', '/api/account/approval', { live: true }))).to.deep.equal([
      403,
      'lacks_rights',
    ])
    const handed = await ann.session.ask('DELETE', `/api/member/${second}/delete?to=1`)
    expect(handed.json['message']).to.match(/API keys work again.*Replace each of them/)
    const [finish, onProblem] = [async () => {}, (error: unknown) => expect.fail(String(error))]
    await until(
      async () => {
        await carryOutErasures({ reader, handler, finish, onProblem })
        return (await ann.session.ask('GET', `/api/member/${first}`)).json['details'].status
      },
      (status) => status === 'former',
    )
    const { members } = (await ann.session.ask('GET', '/api/members')).json['data']
    expect(members.filter(({ status }: { status: string }) => status === 'active')).to.have.length(1)
  })

  it('do not join an account that is about to be erased', async () => {
    const [ann, ben] = [await person(), await person()]
    const { token } = await invite(ann, ann.id, 'editor')
    await ann.session.ask('POST', '/api/account/erase', { current_password: 'correct horse 1' })
    expect(failure(await ben.session.ask('POST', '/api/invitation/accept', { token }))).to.deep.equal([
      404,
      'not_found',
    ])
    await ann.session.ask('DELETE', '/api/account/erase')
    expect((await ben.session.ask('POST', '/api/invitation/accept', { token })).status).to.equal(200)
  })

  it('show the address of the first owner to no key of theirs that may not list the members', async () => {
    const [ann, ben] = [await person(), await person()]
    const id = await join(ann, ben, 'admin')
    const made = await asked(ben, ann.id, 'POST', '/api/key/add', { name: 'reads', scopes: ['read'] })
    const key = String(made.json['key'])
    await ann.session.ask('PUT', `/api/member/${id}/update`, { role: 'analyst' })
    expect((await app.get('/api/account', { key })).json['data']).to.include({ id: ann.id, email: '' })
  })

  it('hand over their keys to others, who hand them on, and finally to the account itself', async () => {
    const [ann, ben, cleo, dan] = [await person(), await person(), await person(), await person()]
    const [first, second] = [await join(ann, ben, 'admin'), await join(ann, cleo, 'editor')]
    const made = await asked(ben, ann.id, 'POST', '/api/key/add', {
      name: 'nightly',
      scopes: ['read', 'write', 'account'],
    })
    const key = String(made.json['key'])
    const rights = async () => [
      (await app.get('/api/urls', { key })).status,
      (await app.get('/api/keys', { key })).status,
      (await app.ask('PUT', '/api/account/update', { key, body: { timezone: 'Europe/Berlin' } })).status,
    ]
    expect(await rights()).to.deep.equal([200, 200, 403])
    /** Removes a member, and waits until the tables have it. */
    const remove = async (number: number, to: number) => {
      const answer = await ann.session.ask('DELETE', `/api/member/${number}/delete?to=${to}`)
      expect([answer.status, answer.headers.get('X-Projection-Pending')]).to.deep.equal([200, null])
    }
    await remove(first, second)
    expect(await rights()).to.deep.equal([200, 403, 403])
    const listed = (await ann.session.ask('GET', '/api/keys')).json['data'].keys as { name: string; member?: object }[]
    expect(listed.find(({ name }) => name === 'nightly')?.member).to.deep.equal({
      id: second,
      name: cleo.username,
      role: 'editor',
    })
    const third = await join(ann, dan, 'analyst')
    await remove(second, third)
    expect((await app.ask('POST', '/api/url/add', { key, body: { url: 'https://example.com/a' } })).status).to.equal(
      403,
    )
    await remove(third, 1)
    // what is about the person who signs in stays theirs
    expect(await rights()).to.deep.equal([200, 200, 403])
    expect((await app.get('/api/sessions', { key })).status).to.equal(403)
  })

  it('read no stream on that shows more than they see now', async () => {
    const [ann, ben] = [await person(), await person()]
    const id = await join(ann, ben, 'editor')
    const streams = await Promise.all(
      ['/api/events?follow=true', '/api/clicks?follow=true'].map((path) =>
        fetch(`${app.address}${path}`, {
          headers: { Cookie: ben.session.cookie, 'Linkledger-Account': String(ann.id), Accept: 'application/x-ndjson' },
        }),
      ),
    )
    expect(streams.map(({ status }) => status)).to.deep.equal([200, 200])
    await ann.session.ask('PUT', `/api/member/${id}/update`, { role: 'author' })
    const made = await ann.session.ask('POST', '/api/url/add', { url: 'https://example.com/later', title: 'later' })
    expect(made.status).to.equal(200)
    // each ends
    for (const stream of streams) expect(await stream.text()).not.to.contain('later')
  })

  it('put no link on a domain that they may not use by restoring it', async () => {
    const [ann, ben] = [await person(), await person()]
    const add = async (domain: string) =>
      Number((await ann.session.ask('POST', '/api/domain/add', { domain })).json['id'])
    const [one, two] = [await add('https://one-limit.example'), await add('https://two-limit.example')]
    expect([one, two].every(Boolean)).to.equal(true)
    const url = 'https://example.com/a'
    const link = Number(
      (await ann.session.ask('POST', '/api/url/add', { url, domain: 'https://two-limit.example' })).json['id'],
    )
    await ann.session.ask('PUT', `/api/url/${link}/update`, { url, domain: 'https://one-limit.example' })
    const id = await join(ann, ben, 'editor')
    await ann.session.ask('PUT', `/api/member/${id}/update`, { role: 'editor', domains: [one] })
    const { events } = (await ann.session.ask('GET', '/api/account/history?limit=1')).json['data']
    expect(events[0].changes, 'the history of the limit').to.deep.equal([{ field: 'domains', old: null, new: [one] }])
    const restored = await asked(ben, ann.id, 'POST', `/api/url/${link}/restore`, { revision: 0 })
    expect([restored.status, restored.json['params'].what]).to.deep.equal([403, 'domain'])
  })
})
