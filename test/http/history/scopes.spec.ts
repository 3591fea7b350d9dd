import { expect } from 'chai'
import { kinds, ownedKinds } from '../../../src/events/kinds.ts'
import { routes } from '../../../src/http/routes.ts'

const scopeOf = (path: string) => routes.find((one) => one.method === 'get' && one.path === path)?.scope

describe('the history of each kind of resource', () => {
  for (const kind of ownedKinds)
    it(`needs the scope that its list and its details need: ${kind}`, () => {
      const { list, path } = kinds[kind]
      const needed = [scopeOf(list), scopeOf(`/api/${path}/:id`) ?? scopeOf(list)]
      const doors = [scopeOf(`/api/${path}/:id/history`), scopeOf(`/api/${path}/:id/revisions`) ?? scopeOf(list)]
      expect(doors).to.deep.equal(needed)
    })

  it('of a key needs the scope that the list of keys needs', () => {
    expect(scopeOf('/api/key/:id/history')).to.deep.equal(scopeOf('/api/keys'))
  })
})
