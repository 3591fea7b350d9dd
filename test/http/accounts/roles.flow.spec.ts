import { expect } from 'chai'
import { isLimitedToOwn, type Role, rightsOfRoles } from '../../../src/events/accounts/role.ts'
import type { Route } from '../../../src/http/api/route.ts'
import { isWithinLimit } from '../../../src/http/api/limits/part.ts'
import { mayCall } from '../../../src/http/api/scope.ts'
import { routes } from '../../../src/http/routes.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { linesBelow } from '../../support/docs.ts'
import { signIn } from '../../support/session.ts'

const roles = Object.keys(rightsOfRoles) as readonly Role[]
/** Routes that act in the account which a session has chosen, and need a right there. */
const inAccounts = routes.filter(
  ({ public: isPublic, person, scope = [] }) =>
    !isPublic && !person && scope !== 'operator' && [scope].flat().length > 0,
)
const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`
const allowed = (route: Route, role: Role) => {
  const { scope = [] } = route
  if (isLimitedToOwn(role) && !isWithinLimit(route)) return false
  const rights = rightsOfRoles[role]
  const audit = rights.some((right) => right === 'audit' || right === 'account')
  return mayCall({ scopes: rights.filter((right) => right !== 'audit'), audit }, scope)
}

describe('the roles of members', () => {
  it('open the routes that docs/members.md lists', () => {
    const groups = new Map<string, string[]>()
    for (const route of inAccounts) {
      const may = roles.filter((role) => allowed(route, role)).join(', ')
      groups.set(may, [...(groups.get(may) ?? []), nameOf(route)])
    }
    const lines = [...groups].map(([may, names]) => `- ${may}: ${names.map((name) => `\`${name}\``).join(', ')}`)
    expect(lines).to.deep.equal(linesBelow('docs/members.md', 'What each role may call', lines))
  })

  describe('of a running service', () => {
    let app: TestApp
    before(async () => {
      app = await startTestApp({ SESSION_RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PER_MINUTE: '0' })
    })
    after(() => app.close())

    for (const role of roles)
      it(`open exactly the listed routes to a member who is ${role}`, async () => {
        const [owner, made] = [await app.register(), await app.register()]
        const [ann, ben] = [await signIn(app, owner.email), await signIn(app, made.email)]
        const { json } = await ann.ask('POST', '/api/member/invite', { role })
        const token = new URL(String(json['link'])).searchParams.get('t')
        await ben.ask('POST', '/api/invitation/accept', { token })
        const differ: string[] = []
        for (const route of inAccounts) {
          const path = route.path.replaceAll(/:\w+/g, '999999')
          const headers = { 'Linkledger-Account': String(owner.id), Accept: 'application/json' }
          const { status, json: answer } = await ben.ask(
            route.method.toUpperCase(),
            path,
            route.method === 'get' ? undefined : {},
            headers,
          )
          const isRefused = status === 403 && ['role', 'limited'].includes(answer['params']?.what)
          if (isRefused === allowed(route, role)) differ.push(`${nameOf(route)}: ${status}`)
        }
        expect(differ).to.deep.equal([])
      })
  })
})
