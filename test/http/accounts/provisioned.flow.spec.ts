import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'
import { openPeople } from '../../support/provisioned.ts'
import { signIn } from '../../support/session.ts'
import { type DirectoryClient, filtered, openDirectoryClient } from '../../support/scim.ts'

describe('a user of a directory', () => {
  let stub: StubIssuer
  let app: TestApp
  let directory: DirectoryClient
  before(async () => {
    stub = await startStubIssuer()
    app = await startTestApp({
      OIDC_ISSUER: stub.address,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_CLIENT_SECRET: 'a secret',
    })
    directory = await openDirectoryClient(app, stub.address)
  })
  after(async () => {
    await app.close()
    await stub.close()
  })

  let n = 0
  const newName = () => `held-${++n}`
  const people = () => openPeople(stub, () => directory)
  const erase = async (id: number) => {
    const { db, handler } = app.app.ledger
    await handler.handle(accounts, { type: 'EraseAccount', id }, systemMetadata(id))
    await until(
      () => db('state.directory_users').where({ account: id }),
      (left) => left.length === 0,
    )
  }

  describe('whose person has erased their account', () => {
    it('is there under the same id, and ends the access of the account that they make next', async () => {
      const { add, enter, idOf, patch, statusOf, tryEnter } = people()
      const name = newName()
      const user = await add(name)
      await erase(await idOf(await enter(app, { sub: name })))
      const next = await enter(app, { sub: name })
      const { json } = await directory.ask('GET', filtered('Users', `externalId eq "${name}"`))
      expect(json['Resources'].map(({ id }: { id: string }) => id)).to.deep.equal([user])
      await patch(user, { active: false })
      expect(await statusOf(next)).to.equal(401)
      expect((await tryEnter(app, { sub: name })).status).to.equal(403)
      await patch(user, { active: true, userName: `${name}@example.com` })
      await enter(app, { sub: name })
    })

    it('refuses them while it is inactive, and restores access when the directory does', async () => {
      const { add, enter, idOf, patch, tryEnter } = people()
      const name = newName()
      const user = await add(name)
      const id = await idOf(await enter(app, { sub: name }))
      await patch(user, { active: false })
      await erase(id)
      expect((await tryEnter(app, { sub: name })).status).to.equal(403)
      await patch(user, { active: true })
      await enter(app, { sub: name })
      expect((await directory.ask('DELETE', `/Users/${user}`)).status).to.equal(204)
      expect((await tryEnter(app, { sub: name })).status).to.equal(403)
    })
  })

  describe('whom the directory calls otherwise', () => {
    const endsAfter = async (externalId: string | null) => {
      const { add, enter, patch, statusOf, tryEnter } = people()
      for (const end of ['PATCH', 'DELETE']) {
        const name = newName()
        const user = await add(name)
        const browser = await enter(app, { sub: name })
        await patch(user, { externalId: externalId && `${name}-${externalId}` })
        expect(await statusOf(browser)).to.equal(200)
        await (end === 'PATCH' ? patch(user, { active: false }) : directory.ask('DELETE', `/Users/${user}`))
        expect(await statusOf(browser), end).to.equal(401)
        expect((await tryEnter(app, { sub: name })).status, end).to.equal(403)
      }
    }

    it('by another name, ends the access of the account that was joined, whether or not they sign in again', () =>
      endsAfter('next'))
    it('by none, ends the access of the account that was joined, whether or not they sign in again', () =>
      endsAfter(null))

    it('holds both accounts once they have signed in under the other name', async () => {
      const { add, enter, patch, statusOf } = people()
      const name = newName()
      const user = await add(name)
      const before = await enter(app, { sub: name })
      await patch(user, { externalId: `${name}-next` })
      const after = await enter(app, { sub: `${name}-next` })
      await patch(user, { active: false })
      expect([await statusOf(before), await statusOf(after)]).to.deep.equal([401, 401])
    })
  })

  it('whose deletion is interrupted is there until a retry has ended the access', async () => {
    const { add, enter, statusOf, tryEnter } = people()
    const name = newName()
    const user = await add(name)
    const browser = await enter(app, { sub: name })
    const { db } = app.app.ledger
    await db.raw('alter table state.directory_held rename to directory_held_away')
    expect((await directory.ask('DELETE', `/Users/${user}`)).status).to.equal(500)
    await db.raw('alter table state.directory_held_away rename to directory_held')
    expect((await directory.ask('DELETE', `/Users/${user}`)).status).to.equal(204)
    expect(await statusOf(browser)).to.equal(401)
    expect((await tryEnter(app, { sub: name })).status).to.equal(403)
    expect((await directory.ask('DELETE', `/Users/${user}`)).status).to.equal(404)
  })

  describe('whose sign-in lacks the claim by which the directory names them', () => {
    let other: TestApp
    before(async () => {
      const settings = { OIDC_ISSUER: stub.address, OIDC_CLIENT_ID: 'linkledger', OIDC_CLIENT_SECRET: 'a secret' }
      other = await startTestApp({ ...settings, OIDC_SCIM_CLAIM: 'oid' }, app.connection)
    })
    after(() => other.close())

    it('does not sign in, whether the claim is missing, a list or empty', async () => {
      const { tryEnter } = people()
      const sub = newName()
      for (const claim of [{}, { oid: [sub] }, { oid: '' }, { oid: {} }])
        expect((await tryEnter(other, { sub, ...claim })).status, JSON.stringify(claim)).to.equal(400)
    })

    it('is known by a number as by the text of it', async () => {
      const { add, enter, patch, statusOf } = people()
      const user = await add('123456')
      const browser = await enter(other, { sub: newName(), oid: 123_456 })
      await patch(user, { active: false })
      expect(await statusOf(browser)).to.equal(401)
    })
  })

  it('without access leaves keys to another member, with a warning that they work again', async () => {
    const inAccount = async () => {
      const own = await app.register()
      return { ...own, session: await signIn(app, own.email) }
    }
    const [ann, ben] = [await inAccount(), await inAccount()]
    const ofAnn = { 'Linkledger-Account': String(ann.id) }
    const given = { current_password: 'correct horse 1' }
    const { json } = await ann.session.ask('POST', '/api/member/invite', { role: 'admin' })
    await ben.session.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    const made = await ben.session.ask('POST', '/api/key/add', { name: 'work', scopes: ['read'], ...given }, ofAnn)
    const key = String(made.json['key'])
    const { handler } = app.app.ledger
    await handler.handle(accounts, { type: 'DeactivateAccount', id: ben.id }, systemMetadata(ben.id))
    const has = (wanted: number) =>
      until(
        async () => (await app.get('/api/urls', { key })).status,
        (status) => status === wanted,
      )
    await has(401)
    const removed = await ann.session.ask('DELETE', `/api/member/${json['id']}/delete?to=1`, given)
    expect(removed.json['message']).to.match(/API keys work again.*Replace each of them/)
    await has(200)
  })
})
