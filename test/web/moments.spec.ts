import { expect } from 'chai'
import { routes } from '../../src/http/routes.ts'
import { isPresentOnly, readPast } from '../../src/web/core/moments.ts'

describe('the moments of the dashboard', () => {
  it('requests the past wherever the API has one, and nowhere else', () => {
    const reading = routes.filter(({ method, path }) => method === 'get' && path.startsWith('/api/'))
    const differ = reading.filter(
      ({ path, nowOnly }) => isPresentOnly(path.replaceAll(/:\w+/g, '7')) !== (nowOnly !== undefined),
    )
    // receipts and settings of an account are not shown as of a moment, although their routes accept one
    const known = new Set(['/api/account/totp', '/api/events/:event/proof', '/api/clicks/:id/proof'])
    // and these lead from moment to moment
    const leads = /\/(?:history|revisions)$/
    expect(differ.map(({ path }) => path).filter((path) => !known.has(path) && !leads.test(path))).to.deep.equal([])
  })

  it('reads moments of the address, and takes anything else for now', () => {
    expect(readPast('2026-04-09T08:30:00Z')).to.deep.equal({
      at: '2026-04-09T08:30:00Z',
      time: new Date('2026-04-09T08:30:00Z'),
    })
    expect(readPast('event:7@2026-04-09T08:30:00Z')?.at).to.equal('event:7')
    for (const other of [null, '', 'event:7', '2026-13-40T08:30:00Z', 'yesterday', '2026-04-09T08:30:00Z&x=1'])
      expect(readPast(other), String(other)).to.equal(undefined)
  })
})
