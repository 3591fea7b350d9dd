import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { claimedIdentity } from '../../../src/commands/accounts/register.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'
import { openPeople } from '../../support/provisioned.ts'
import { type DirectoryClient, openDirectoryClient } from '../../support/scim.ts'

describe('an issuer whose address is spelled otherwise in the settings, with or without a slash at its end,', () => {
  let stub: StubIssuer
  let app: TestApp
  let other: TestApp
  let acme: { readonly id: number }
  let directory: DirectoryClient
  before(async () => {
    stub = await startStubIssuer()
    const settings = {
      OIDC_ISSUER: `${stub.address}/`,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_CLIENT_SECRET: 'a secret',
      OIDC_ROLES: 'editors=@acme:editor',
    }
    app = await startTestApp(settings)
    acme = await app.register('acme', 'acme')
    other = await startTestApp({ ...settings, OIDC_SCIM_CLAIM: 'oid' }, app.connection)
    directory = await openDirectoryClient(app, `${stub.address}/`)
  })
  after(async () => {
    await other.close()
    await app.close()
    await stub.close()
  })
  const people = () => openPeople(stub, () => directory)

  it('has one directory: it ends access of its people, in any order of provisioning and sign-in', async () => {
    const { add, enter, patch, statusOf, tryEnter } = people()
    const cases = [
      [app, { sub: 'first-sub' }, 'first-sub'],
      [other, { sub: 's1', oid: 'first-oid' }, 'first-oid'],
    ] as const
    for (const [of, who, called] of cases) {
      const id = await add(called)
      const browser = await enter(of, who)
      await patch(id, { active: false })
      expect(await statusOf(browser), called).to.equal(401)
      expect((await tryEnter(of, who)).status, called).to.equal(403)
      await patch(id, { active: true })
      await enter(of, who)
    }
    const late = [
      [app, { sub: 'late-sub' }, 'late-sub'],
      [other, { sub: 's2', oid: 'late-oid' }, 'late-oid'],
    ] as const
    for (const [of, who, called] of late) {
      const browser = await enter(of, who)
      directory = await openDirectoryClient(of, `${stub.address}/`)
      await add(called, { active: false })
      expect(await statusOf(browser), called).to.equal(401)
    }
  })

  it('refuses a person who is inactive before their first sign-in', async () => {
    const { add, tryEnter } = people()
    await add('never', { active: false })
    expect((await tryEnter(app, { sub: 'never' })).status).to.equal(403)
  })

  it('signs in whom an operator has linked as the settings spell it', async () => {
    const { enter, idOf } = people()
    const { handler, keys } = app.app.ledger
    const { id } = await app.register()
    const identity = claimedIdentity(keys.service, { issuer: `${stub.address}/`, subject: 'linked', name: null })
    await handler.handle(accounts, { type: 'AddIdentity', id, identity }, systemMetadata(id))
    expect(await idOf(await enter(app, { sub: 'linked' }))).to.equal(id)
  })

  it('gives roles by the groups of its directory', async () => {
    const { add, enter } = people()
    directory = await openDirectoryClient(app, stub.address)
    const id = await add('grouped')
    const browser = await enter(app, { sub: 'grouped' })
    await directory.ask('POST', '/Groups', { displayName: 'editors', members: [{ value: id }] })
    const { json } = await browser.ask('GET', '/api/memberships')
    const roles = (json['data'].memberships as { account: number; role: string }[]).filter(
      (one) => one.account === acme.id,
    )
    expect(roles.map(({ role }) => role)).to.deep.equal(['editor'])
  })
})
