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
