import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import type { Answer } from '../../support/client.ts'
import { signIn } from '../../support/session.ts'

type Session = Awaited<ReturnType<typeof signIn>>

describe('a team account', () => {
  let app: TestApp
  let [ann, ben]: Session[] = []
  let team: number
  before(async () => {
    app = await startTestApp({ SESSION_RATE_LIMIT_PER_MINUTE: '0' })
    ann = await signIn(app, (await app.register()).email)
    ben = await signIn(app, (await app.register()).email)
  })
  after(() => app.close())

  const asked = (who: Session, method: string, path: string, body?: object) =>
    who.ask(method, path, body, { 'Linkledger-Account': String(team) })
  const failure = ({ status, json }: Answer) => [status, json['code'], json['params']?.what]
  const invite = async (role: string) => {
    const { json } = await asked(ann!, 'POST', '/api/member/invite', { role })
    await ben!.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    return Number(json['id'])
  }
  const members = async () =>
    (await asked(ann!, 'GET', '/api/members')).json['data'].members as { id: number; role: string }[]

  it('belongs to the person who adds it', async () => {
    const { status, json } = await ann!.ask('POST', '/api/account/add', { name: 'acme-print' })
    expect(status, JSON.stringify(json)).to.equal(200)
    team = Number(json['id'])
    expect((await ann!.ask('GET', '/api/memberships')).json['data'].memberships[1]).to.deep.equal({
      account: team,
      name: 'acme-print',
      role: 'owner',
      own: false,
      team: true,
      erases: '',
    })
    expect((await members()).map(({ id, role }) => [id, role])).to.deep.equal([[2, 'owner']])
    const link = await asked(ann!, 'POST', '/api/url/add', { url: 'https://example.com/team' })
    expect(link.status).to.equal(200)
    expect((await ann!.ask('GET', '/api/urls')).json['data'].result).to.equal(0)
    const { json: history } = await asked(ann!, 'GET', `/api/url/${link.json['id']}/history`)
    expect(history['data'].events[0].actor.member).to.include({ id: 2, role: 'owner' })
    expect((await asked(ann!, 'GET', '/api/member/1')).status).to.equal(404)
    expect(failure(await ben!.ask('POST', '/api/account/add', { name: 'acme-print' }))).to.deep.equal([
      400,
      'taken',
      'username',
    ])
    expect((await ben!.ask('POST', '/api/account/add', { name: 'No' })).json['field']).to.equal('name')
  })

  it('keeps its last owner, who can neither leave nor lose the role', async () => {
    expect(failure(await ann!.ask('DELETE', `/api/membership/${team}/delete`))).to.deep.equal([
      403,
      'lacks_rights',
      'last_owner',
    ])
    expect(failure(await asked(ann!, 'PUT', '/api/member/2/update', { role: 'editor' }))).to.deep.equal([
      403,
      'lacks_rights',
      'last_owner',
    ])
    const second = await invite('owner')
    expect((await asked(ben!, 'PUT', '/api/member/2/update', { role: 'admin' })).status).to.equal(200)
    expect((await asked(ben!, 'PUT', '/api/member/2/update', { role: 'owner' })).status).to.equal(200)
    expect((await asked(ann!, 'DELETE', `/api/member/${second}/delete`)).status).to.equal(200)
  })

  it('keeps its last owner from erasing their own account, until it is erased itself', async () => {
    expect(failure(await ann!.ask('POST', '/api/account/erase', {}))).to.deep.equal([403, 'lacks_rights', 'last_owner'])
    await invite('editor')
    expect(failure(await ann!.ask('POST', `/api/membership/${team}/erase`, {}))).to.deep.equal([
      403,
      'lacks_rights',
      'has_members',
    ])
    expect(failure(await ben!.ask('POST', `/api/membership/${team}/erase`, {}))).to.deep.equal([
      403,
      'lacks_rights',
      'role',
    ])
    await ben!.ask('DELETE', `/api/membership/${team}/delete`)
    const password = { current_password: 'correct horse 1' }
    const erased = await ann!.ask('POST', `/api/membership/${team}/erase`, password)
    expect(erased.json, JSON.stringify(erased.json)).to.have.property('erases')
    expect((await ann!.ask('DELETE', `/api/membership/${team}/erase`)).status).to.equal(200)
    const own = (await ann!.ask('GET', '/api/memberships')).json['data'].memberships[0].account as number
    expect(failure(await ann!.ask('POST', `/api/membership/${own}/erase`, {}))).to.deep.equal([
      403,
      'lacks_rights',
      'own_sign_in',
    ])
  })

  it('gives its members API keys, which read it and show no e-mail address', async () => {
    const key = await asked(ann!, 'POST', '/api/key/add', { name: 'print', scopes: ['read'] })
    const ofTeam = { key: String(key.json['key']) }
    expect((await app.get('/api/urls', ofTeam)).json['data'].result).to.equal(1)
    expect((await app.get('/api/account', ofTeam)).json['data']).to.include({ id: team, email: '' })
  })
})

describe('an account whose own sign-in ends', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp({ SESSION_RATE_LIMIT_PER_MINUTE: '0' })
  })
  after(() => app.close())

  const password = { current_password: 'correct horse 1' }
  const failure = ({ status, json }: Answer) => [status, json['code'], json['params']?.what]
  /** An account with a link and a key, and another person whom it has made a member. */
  const begin = async (role: string) => {
    const own = await app.register()
    const [ann, ben] = [await signIn(app, own.email), await signIn(app, (await app.register()).email)]
    const { json } = await ann.ask('POST', '/api/member/invite', { role })
    await ben.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    return { own, ann, ben, member: Number(json['id']) }
  }

  it('is a team account of the owner that it names: links, keys and histories stay, and its address is free', async () => {
    const { own, ann, ben, member } = await begin('owner')
    const inAccount = { 'Linkledger-Account': String(own.id) }
    const link = await ann.ask('POST', '/api/url/add', { url: 'https://example.com/before' })
    const invited = await ann.ask('POST', '/api/member/invite', { role: 'editor' })
    const token = new URL(invited.json['link']).searchParams.get('t')
    const ended = await ann.ask('POST', '/api/account/handover', { member, ...password })
    expect(ended.status, JSON.stringify(ended.json)).to.equal(200)

    expect((await ann.ask('GET', '/api/account')).status, 'its session').to.equal(401)
    const { memberships } = (await ben.ask('GET', '/api/memberships')).json['data']
    expect(memberships[1]).to.include({ account: own.id, role: 'owner', team: true })
    expect((await app.get('/api/urls', own)).json['data'].result, 'its key').to.equal(1)
    const changed = await ben.ask(
      'PUT',
      `/api/url/${link.json['id']}/update`,
      { url: 'https://example.com/after' },
      inAccount,
    )
    expect(changed.status).to.equal(200)
    const { events } = (await ben.ask('GET', `/api/url/${link.json['id']}/history`, undefined, inAccount)).json['data']
    expect(events.map(({ type }: { type: string }) => type)).to.deep.equal(['LinkUpdated', 'LinkCreated'])
    const keys = (await ben.ask('GET', '/api/keys', undefined, inAccount)).json['data'].keys
    expect(keys[0].member.id, 'whose key it is').to.equal(member)
    const cem = await signIn(app, (await app.register()).email)
    expect((await cem.ask('POST', '/api/invitation/accept', { token })).status, 'its invitation').to.equal(200)
    const again = await app.register(own.email.replace('@example.com', ''))
    expect(again.id, 'the address').to.be.above(own.id)
    // it cannot get a sign-in again by an earlier revision
    expect(
      failure(await app.post('/api/account/restore', { ...own, body: { revision: 1, ...password } }))[0],
    ).to.be.within(400, 403)
    expect(failure(await ben.ask('DELETE', `/api/membership/${own.id}/delete`))).to.deep.equal([
      403,
      'lacks_rights',
      'last_owner',
    ])
  })

  it('stays as it is without the password, another owner, or with accounts that it is a member of', async () => {
    const { ann, ben, member } = await begin('editor')
    const ask = (body: object) => ann.ask('POST', '/api/account/handover', body)
    expect((await ask({ member })).status).to.equal(400)
    expect(failure(await ask({ member, ...password }))).to.deep.equal([403, 'lacks_rights', 'no_owner'])
    expect(failure(await ask({ member: 9, ...password }))).to.deep.equal([404, 'not_found', 'member'])
    await ann.ask('POST', '/api/account/add', { name: 'acme-own' })
    expect(failure(await ask({ member, ...password }))).to.deep.equal([403, 'lacks_rights', 'has_memberships'])
    expect((await ben.ask('GET', '/api/account')).status).to.equal(200)
  })
})
