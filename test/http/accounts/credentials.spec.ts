import { expect } from 'chai'
import type { Team } from '../../../src/commands/accounts/roster.ts'
import { noKeys } from '../../../src/commands/accounts/key.ts'
import { allScopes, Scope } from '../../../src/events/accounts/scope.ts'
import { askerOf, leadsOn, steps } from '../../../src/http/accounts/credentials.ts'
import { mayCall } from '../../../src/http/api/scope.ts'
import type { Route } from '../../../src/http/api/route.ts'
import { routes } from '../../../src/http/routes.ts'
import { linesBelow } from '../../support/docs.ts'

const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`

describe('the table of the rights of credentials', () => {
  it('is in docs/security.md: the requirements of each step', () => {
    const found = Object.values(steps).map(
      ({ does, routes: of, session, 'other session': other, 'first key': first, key }) =>
        `- ${does}: a session needs ${session}, one that no password has opened ${other}, the first key ${first}, any other key ${key} (${of.map((one) => `\`${one}\``).join(', ')})`,
    )
    expect(found).to.deep.equal(linesBelow('docs/security.md', 'What widens a right', found))
  })

  it('is in docs/security.md: the routes of each scope', () => {
    const kinds: readonly (readonly [string, (route: Route) => boolean])[] = [
      ['restores', ({ path }) => path.endsWith('/restore')],
      ['makes', ({ method, path }) => method === 'post' && /\/(?:add|rotate|bulk|totp)$/.test(path)],
      ['changes', ({ method, path }) => method !== 'get' && !path.endsWith('/rehearse')],
      ['reads', () => true],
    ]
    const line = (name: string, isOpen: (route: Route) => boolean) => {
      const parts = kinds.flatMap(([verb], i) => {
        const open = routes.filter((one) => isOpen(one) && kinds.findIndex(([, is]) => is(one)) === i)
        const nouns = [...new Set(open.map(({ path }) => `\`${path.split('/')[2]}\``))].sort()
        return nouns.length === 0 ? [] : [`${verb} ${nouns.join(', ')}`]
      })
      return `- ${name}: ${parts.join('; ')}`
    }
    const found = [
      ...Scope.options.map((scope) =>
        line(
          `\`${scope}\``,
          (one) => one.scope?.length !== 0 && !one.public && mayCall({ scopes: [scope] }, one.scope),
        ),
      ),
      line('a session of an operator, besides', ({ scope }) => scope === 'operator'),
    ]
    expect(found).to.deep.equal(linesBelow('docs/security.md', 'What each scope opens', found))
  })

  it('names existing routes, each of which checks the requirements of the step', () => {
    const served = routes.map(nameOf)
    for (const step of Object.values(steps)) expect(served).to.include.members([...step.routes])
  })

  it('takes the key of the registration as it is only while nothing limits it', () => {
    const main = { number: 1, name: '', key: 'k', hash: '', scopes: allScopes, expires: null, addresses: null }
    const asker = (
      changes: Partial<typeof main> | object,
      account: object = {},
      number = 1,
      members: Team['members'] = {},
    ) =>
      askerOf(
        { key: { number } as never, session: undefined, credential: undefined },
        {
          keys: { ...noKeys, keys: [{ ...main, number, ...changes }] },
          secondFactor: null,
          operator: false,
          ...account,
        },
        { members },
      )
    expect(asker({})).to.equal('first key')
    expect(asker({ expires: '2040-01-01T00:00:00.000Z' })).to.equal('key')
    expect(asker({ addresses: '192.0.2.0/24' })).to.equal('key')
    expect(asker({ scopes: ['account'] })).to.equal('key')
    expect(asker({}, { secondFactor: { secret: '', recovery: [] } })).to.equal('key')
    expect(asker({}, { operator: true })).to.equal('key')
    const ann = { role: 'editor', person: 8, expires: null }
    expect(asker({}, {}, 1, { 2: ann })).to.equal('key')
    expect(asker({}, {}, 2)).to.equal('key')
  })

  it('counts a scope that a newer release has as one that leads to other rights', () => {
    expect(Scope.options.filter((scope) => leadsOn([scope]))).to.deep.equal(['account', 'webhooks'])
    expect(leadsOn(['read', 'members'])).to.equal(true)
  })
})
