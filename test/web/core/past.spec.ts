import { expect } from 'chai'
import type * as RouterModule from '../../../src/web/core/router.ts'
import type * as PastModule from '../../../src/web/core/past.ts'
import { usePage } from '../page.ts'

let router: typeof RouterModule
let past: typeof PastModule
const at = (path: string, query = '') => {
  router.at.value = { path, query: new URLSearchParams(query) }
}

describe('the dashboard at a moment of the past', () => {
  usePage(async () => {
    router = await import('../../../src/web/core/router.ts')
    past = await import('../../../src/web/core/past.ts')
  })
  beforeEach(() => at('/links', 'tag=spring&at=event:7@2026-04-09T08:30:00Z'))
  after(() => at('/'))

  it('shows the moment that its address names, and now where it names none', () => {
    expect(past.past.value).to.deep.equal({ at: 'event:7', time: new Date('2026-04-09T08:30:00Z') })
    expect(past.shownTime()).to.deep.equal(new Date('2026-04-09T08:30:00Z'))
    at('/links')
    expect(past.past.value).to.equal(undefined)
    expect(past.shownTime().getTime()).to.be.closeTo(Date.now(), 1000)
  })

  it('keeps the moment from screen to screen, until the user goes back to now', () => {
    expect(router.href('/links/7')).to.equal('/dashboard/links/7?at=event%3A7%402026-04-09T08%3A30%3A00Z')
    expect(past.now()).to.equal('/dashboard/links?tag=spring')
    const time = new Date('2026-04-10T09:00:00.750Z')
    expect(past.whenAt(time)).to.equal('/dashboard/links?at=2026-04-10T09%3A00%3A00Z&tag=spring')
    expect(past.afterEvent(8, time)).to.equal('/dashboard/links?at=event%3A8%402026-04-10T09%3A00%3A00Z&tag=spring')
  })

  it('asks the API for the moment, except where it has none', () => {
    expect(past.pathAt('/api/urls')).to.equal('/api/urls?at=event%3A7')
    expect(past.pathAt('/api/urls?limit=25')).to.equal('/api/urls?limit=25&at=event%3A7')
    for (const path of ['/api/account/history', '/api/sessions', '/api/proof', '/api/url/7/revisions?limit=2'])
      expect(past.pathAt(path), path).to.equal(path)
    at('/links')
    expect(past.pathAt('/api/urls')).to.equal('/api/urls')
  })

  it('refuses changes, but allows restoring, trying rules and signing out', () => {
    for (const [method, path] of [
      ['POST', '/api/url/add'],
      ['PUT', '/api/url/7/update'],
      ['DELETE', '/api/url/7/delete'],
      ['DELETE', '/api/session/7'],
      ['POST', '/api/urls/bulk?op=update'],
    ] as const)
      expect(past.isRefusedInPast(method, path), path).to.equal(true)
    for (const [method, path] of [
      ['GET', '/api/urls'],
      ['POST', '/api/url/7/restore?dryRun=true'],
      ['POST', '/api/url/7/rehearse'],
      ['DELETE', '/api/session'],
    ] as const)
      expect(past.isRefusedInPast(method, path), path).to.equal(false)
    at('/links')
    expect(past.isRefusedInPast('POST', '/api/url/add')).to.equal(false)
  })

  it('says which screens show only the present', () => {
    for (const path of ['/account', '/operator', '/operator/health', '/proof', '/history', '/qr/new']) {
      at(path)
      expect(past.showsNowOnly(), path).to.equal(true)
    }
    for (const path of ['/', '/links', '/qr', '/qr/7', '/accounts', '/webhooks/7']) {
      at(path)
      expect(past.showsNowOnly(), path).to.equal(false)
    }
  })
})

describe('addresses within the dashboard', () => {
  usePage(async () => {
    router = await import('../../../src/web/core/router.ts')
  })

  it('omit empty parameters, and change only named ones', () => {
    at('/links', 'q=a%26b&page=2&tag=spring')
    expect(router.href('/', { q: '' })).to.equal('/dashboard')
    expect(router.href('/links', { q: 'two words', tag: undefined })).to.equal('/dashboard/links?q=two+words')
    expect(router.withQuery({ page: undefined, tag: 'sale' })).to.equal('/dashboard/links?q=a%26b&tag=sale')
  })
})
