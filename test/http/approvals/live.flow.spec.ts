import { expect } from 'chai'
import { proposed, startWithRules } from '../../support/approvals.ts'
import { until } from '../../support/client.ts'

/** Returns a moment so many ms from now. */
const soon = (ms: number) => new Date(Date.now() + ms).toISOString()

describe('changes of all links that visitors can open', () => {
  let started: Awaited<ReturnType<typeof startWithRules>>
  before(async () => {
    started = await startWithRules()
    const { ann, asked } = started
    expect((await asked(ann, 'PUT', '/api/account/approval', { tags: ['printed'], live: true })).status).to.equal(200)
  })
  after(() => started.app.close())

  it('need a second person also where a link has ended and leads its visitors elsewhere', async () => {
    const { ann, app, asked, add, change } = started
    const over = 'https://example.com/over'
    const expiry = soon(5000)
    const domain = Number((await asked(ann, 'POST', '/api/domain/add', { domain: 'https://over.example' })).json['id'])
    const on = { tags: [], expiry, expired_url: over, domain: 'over.example' }
    const expired = await add({ ...on, custom: 'over-1' })
    const own = await add({ ...on, domain: '', custom: 'over-2' })
    const used = await add({ tags: [], max_clicks: 1, expired_url: over, custom: 'over-3' })
    const page = await add({ tags: [], expiry, custom: 'over-4' })
    for (const path of ['/over-2', '/over-3'])
      await until(
        async () => (await app.visit(path)).headers.get('Location'),
        (location) => location === over,
      )
    for (const id of [expired, own, used])
      proposed(await change(id, { expired_url: 'https://evil.example/', tags: [] }))
    proposed(await asked(ann, 'DELETE', `/api/url/${own}/delete`))
    // what the link is on
    proposed(await asked(ann, 'DELETE', `/api/domain/${domain}/delete`))
    // of a page that says that the link has ended, there is nothing to protect
    expect((await change(page, { title: 'New', tags: [] })).status).to.equal(200)
    expect((await app.visit('/over-2')).headers.get('Location')).to.equal(over)
  })
})
