import { expect } from 'chai'
import { openGroupRoles } from '../../../src/app/accounts/grouproles.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { team as teams } from '../../../src/commands/accounts/team.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { teamsOwnedAlone } from '../../../src/queries/accounts/owner.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { startStubIssuer, type StubIssuer } from '../../support/issuer.ts'
import { openBrowser } from '../../support/issuerbrowser.ts'
import { signIn } from '../../support/session.ts'

describe('an owner whose groups have ended while no other owner could act', () => {
  let stub: StubIssuer
  let app: TestApp
  before(async () => {
    stub = await startStubIssuer()
    app = await startTestApp({
      OIDC_ISSUER: stub.address,
      OIDC_CLIENT_ID: 'linkledger',
      OIDC_CLIENT_SECRET: 'a secret',
      OIDC_GROUPS_CLAIM: 'realm_access.roles',
      OIDC_ROLES: 'heads=@ended:owner, heads=@removed:owner, heads=@lowered:owner, heads=@left:owner',
    })
  })
  after(async () => {
    await app.close()
    await stub.close()
  })

  const enter = async (sub: string, roles: readonly string[], browser = openBrowser(app.app.baseUrl)) => {
    stub.knows({ sub, name: sub, realm_access: { roles } })
    const begun = await browser.open('/oidc/sign-in')
    const answer = await browser.open(stub.answerTo(begun.headers.get('Location')))
    expect(answer.status, await answer.text()).to.equal(303)
    return browser
  }
  const peopleIn = async (team: number) => {
    const { members } = (await app.app.ledger.handler.load(teams, team)).state
    return Object.entries(members).map(([id, { role, person }]) => ({ id: Number(id), role, person }))
  }
  /** A team account whose second owner was kept, and whose first one can act again. */
  const kept = async (name: string) => {
    const { handler, reader } = app.app.ledger
    const { id: first, email } = await app.register()
    const ann = await signIn(app, email)
    const team = Number((await ann.ask('POST', '/api/account/add', { name })).json['id'])
    const browser = await enter(name, ['heads'])
    const person = Number((await browser.ask('GET', '/api/account')).json['data'].id)
    const alone = (is: boolean) =>
      until(
        async () => (await teamsOwnedAlone(reader, person)).includes(team),
        (found) => found === is,
      )
    await handler.handle(accounts, { type: 'DisableAccount', id: first }, systemMetadata(first))
    await alone(true)
    await enter(name, [], browser)
    const found = (await peopleIn(team)).find((one) => one.person === person)
    expect(found?.role).to.equal('owner')
    await handler.handle(accounts, { type: 'EnableAccount', id: first }, systemMetadata(first))
    await alone(false)
    const session = await signIn(app, email)
    const inTeam = { 'Linkledger-Account': String(team) }
    const ask = (method: string, path: string, body?: object) => session.ask(method, path, body, inTeam)
    return { team, first, person, member: found?.id, ask, browser }
  }

  it('loses the role soon after another owner can act again', async () => {
    const { team, first } = await kept('ended')
    const { db, handler, keys, log, reader } = app.app.ledger
    const roles = openGroupRoles({
      ...{ db, handler, log, reader, pepper: keys.service, roles: [], operators: [], sessionDays: 30 },
      issuer: { refresh: () => Promise.reject(new Error('not asked')) },
      issuerAddress: stub.address,
      progress: { wait: async () => true },
      sessions: { endOf: async () => {} },
    })
    await roles.endOverdue()
    expect((await peopleIn(team)).map(({ person }) => person)).to.deep.equal([first])
  })

  it('is removed by the other owner, and leaves by themselves', async () => {
    const removed = await kept('removed')
    const answer = await removed.ask('DELETE', `/api/member/${removed.member}/delete`)
    expect(answer.status, answer.text).to.equal(200)
    const left = await kept('left')
    const leaving = await left.browser.ask('DELETE', `/api/membership/${left.team}/delete`)
    expect(leaving.status, JSON.stringify(leaving.json)).to.equal(200)
    for (const { team, first } of [removed, left])
      expect((await peopleIn(team)).map(({ person }) => person)).to.deep.equal([first])
  })

  it('gets another role by the other owner, which groups do not manage', async () => {
    const { member, ask } = await kept('lowered')
    const answer = await ask('PUT', `/api/member/${member}/update`, { role: 'editor' })
    expect(answer.status, answer.text).to.equal(200)
    const { members } = (await ask('GET', '/api/members')).json['data']
    const found = members.find(({ id }: { id: number }) => id === member)
    expect(found).to.include({ role: 'editor', managed: false })
  })
})
