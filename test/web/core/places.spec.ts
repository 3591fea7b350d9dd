import { expect } from 'chai'
import { kinds, resourceKinds } from '../../../src/events/kinds.ts'
import { placeOf, resourceAt } from '../../../src/web/core/places.ts'
import { places } from '../../../src/web/navigation.ts'
import { routeAt } from '../../../src/web/routes.ts'

describe('the screens of resources', () => {
  const screens: readonly (readonly [type: string, screen: string])[] = [
    ['url', '/links/7'],
    ['qr', '/qr/7'],
    ['campaign', '/campaigns/7'],
    ['channel', '/channels/7'],
    ['domain', '/domains/7'],
    ['splash', '/splash/7'],
    ['overlay', '/overlays/7'],
    ['bio', '/bio/7'],
    ['webhook', '/webhooks/7'],
  ]
  for (const [type, screen] of screens)
    it(`leads from a ${type} to its screen, and from there to its history`, () => {
      expect(placeOf({ type, id: 7 })).to.equal(screen)
      expect(resourceAt(screen)).to.equal(`/api/${type}/7`)
    })

  it('are missing for resources that are only in a list', () => {
    for (const type of ['pixel', 'key', 'account', 'no-such-kind'])
      expect(placeOf({ type, id: 7 }), type).to.equal(undefined)
  })

  it('show a single resource only where the address has its number', () => {
    for (const path of ['/', '/links', '/links/new', '/qr/new', '/links/7/more', '/operator/7', '/account'])
      expect(resourceAt(path), path).to.equal(undefined)
  })

  for (const kind of resourceKinds)
    it(`are there for every kind, and in the navigation: ${kind}`, () => {
      const { path, screen } = kinds[kind]
      const [, list, id] = /^(\/\w+)(\/:id)?$/.exec(screen) ?? []
      expect(routeAt(screen.replace(':id', '7'))?.path).to.equal(screen)
      expect(places.map((place) => place.path)).to.include(list)
      expect(placeOf({ type: path, id: 7 })).to.equal(id && `${list}/7`)
    })
})
