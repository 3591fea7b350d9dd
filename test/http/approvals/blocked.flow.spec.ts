import { expect } from 'chai'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { block, type BlockCommand, blockedAddress } from '../../../src/commands/operator/block.ts'
import { proposed, startWithRules } from '../../support/approvals.ts'
import { type Answer, until } from '../../support/client.ts'

type Started = Awaited<ReturnType<typeof startWithRules>>
const page = 'https://example.com/a'

describe('a proposal, of which the operator has blocked something since', () => {
  let started: Started
  before(async () => {
    started = await startWithRules()
  })
  after(() => started.app.close())

  const ask = (method: string, path: string, body?: object) => started.asked(started.ann, method, path, body)
  const made = async (path: string, body: object) => Number((await ask('POST', path, body)).json['id'])
  const operate = (command: BlockCommand) => {
    const { app } = started
    return app.app.ledger.handler.handle(block, command, operatorContext(app.config, null))
  }
  const isBlocked = (send: () => Promise<Answer>) => until(send, ({ json }) => json['code'] === 'blocked')
  const blockHost = async (host: string) => {
    await operate({ type: 'Block', kind: 'host', value: host, reason: 'x' })
    await isBlocked(() => ask('POST', '/api/url/add', { url: `https://${host}/` }))
  }
  const blockLink = async (id: number, alias: string) => {
    const addresses = [blockedAddress(undefined, alias)]
    await operate({ type: 'Block', kind: 'link', value: String(id), reason: 'x', addresses })
    await until(
      () => started.app.visit(`/${alias}`),
      ({ status }) => status === 403,
    )
  }
  const problem = ({ status, json }: Answer) => [status, json['code'], json['field']]
  /** What an approval is refused with. The proposal can still be refused. */
  const approved = async (number: number) => {
    const { ben, decide, found } = started
    const answer = await decide(ben, 'approve', number)
    expect((await found(number)).json['details']).to.include({ status: 'open' })
    return problem(answer)
  }
  let last = 0
  /** Returns a host that is not blocked yet. */
  const free = () => `evil-${++last}.example`

  it('to change a link is refused as the change itself is, and can still be refused by a person', async () => {
    const { ben, add, change, decide, detailsOf } = started
    const host = free()
    const url = `https://${host}/`
    const changes = {
      url: { url },
      geotarget: { geotarget: [{ location: 'ca', link: url }] },
      browsertarget: { browsertarget: [{ browser: 'Firefox', link: url }] },
      variants: { variants: [{ url }, { url: page }] },
      expired_url: { expired_url: url },
      metaimage: { metaimage: url },
    }
    const waiting: { id: number; field: string; body: object; number: number }[] = []
    for (const [field, body] of Object.entries(changes)) {
      const id = await add()
      waiting.push({ id, field, body, number: proposed(await change(id, body)) })
    }
    await blockHost(host)
    for (const { id, field, body, number } of waiting) {
      expect(await approved(number), field).to.deep.equal([400, 'blocked', field])
      expect(problem(await change(id, body)), field).to.deep.equal([400, 'blocked', field])
      expect(await detailsOf(id)).to.include({ longurl: page })
      expect((await decide(ben, 'refuse', number)).status).to.equal(200)
    }
  })

  it('is approved once the operator has unblocked it', async () => {
    const { ben, add, change, decide, detailsOf } = started
    const [id, host] = [await add(), free()]
    const url = `https://${host}/`
    const number = proposed(await change(id, { url }))
    await blockHost(host)
    expect(await approved(number)).to.deep.equal([400, 'blocked', 'url'])
    await operate({ type: 'Unblock', kind: 'host', value: host })
    const answer = await until(
      () => decide(ben, 'approve', number),
      ({ status }) => status !== 400,
    )
    expect(answer.status).to.equal(200)
    expect(await detailsOf(id)).to.include({ longurl: url })
  })

  it('to change a link otherwise is made, though the link leads to a blocked host already', async () => {
    const { ben, add, change, decide } = started
    const host = free()
    const id = await add({ geotarget: [{ location: 'ca', link: `https://${host}/` }] })
    const number = proposed(await change(id, { title: 'New' }))
    await blockHost(host)
    expect((await decide(ben, 'approve', number)).status).to.equal(200)
  })

  it('for an address is refused once its link is blocked, or another one at that address', async () => {
    const { add, change } = started
    const blockedLink = await add({ custom: 'own-1' })
    const more = proposed(await ask('POST', `/api/url/${blockedLink}/addresses`, { custom: 'own-2' }))
    await blockLink(blockedLink, 'own-1')
    expect(await approved(more)).to.deep.equal([400, 'blocked', 'custom'])

    const gone = await add({ custom: 'gone', tags: [] })
    await ask('DELETE', `/api/url/${gone}/delete`)
    const id = await add()
    const renamed = proposed(await change(id, { custom: 'gone' }))
    await blockLink(gone, 'gone')
    expect(await approved(renamed)).to.deep.equal([400, 'blocked', 'custom'])
  })

  it('to restore a link is refused where it would lead to a blocked host, or be found at a blocked address', async () => {
    const { ben, add, change, decide } = started
    const host = free()
    const id = await add({ url: `https://${host}/`, custom: 'former' })
    const changed = proposed(await change(id, { custom: 'later', keep_old: false }))
    expect((await decide(ben, 'approve', changed)).status).to.equal(200)
    const [back, again] = [
      proposed(await ask('POST', `/api/url/${id}/restore`, { revision: 0 })),
      proposed(await change(id, { custom: 'former' })),
    ]
    const other = await add({ custom: 'former', tags: [] })
    await ask('DELETE', `/api/url/${other}/delete`)
    await blockLink(other, 'former')
    expect(await approved(again)).to.deep.equal([400, 'blocked', 'custom'])
    expect(await approved(back)).to.deep.equal([400, 'blocked', 'custom'])
    await blockHost(host)
    expect(await approved(back)).to.deep.equal([400, 'blocked', 'url'])
  })

  it('to change or restore what a link uses is refused as the change itself is', async () => {
    const { ben, add, decide } = started
    const uses = [
      { kind: 'splash', field: 'logo', of: (id: number) => ({ type: `splash-${id}` }), body: {} },
      {
        kind: 'overlay',
        field: 'link',
        of: (id: number) => ({ type: `overlay-${id}` }),
        body: { type: 'message', message: 'm' },
      },
    ]
    for (const { kind, field, of, body } of uses) {
      const id = await made(`/api/${kind}/add`, { ...body, name: 'n' })
      await add(of(id))
      const [host, later] = [free(), free()]
      const update = (to: string) => ask('PUT', `/api/${kind}/${id}/update`, { [field]: `https://${to}/` })
      const first = proposed(
        await until(
          () => update(later),
          ({ status }) => status === 202,
        ),
      )
      expect((await decide(ben, 'approve', first)).status).to.equal(200)
      const removed = proposed(await ask('PUT', `/api/${kind}/${id}/update`, { [field]: '' }))
      expect((await decide(ben, 'approve', removed)).status).to.equal(200)
      const [changed, restored] = [
        proposed(await update(host)),
        proposed(await ask('POST', `/api/${kind}/${id}/restore`, { revision: 1 })),
      ]
      await blockHost(host)
      expect(await approved(changed), kind).to.deep.equal([400, 'blocked', field])
      expect(problem(await update(host)), kind).to.deep.equal([400, 'blocked', field])
      await blockHost(later)
      expect(await approved(restored), kind).to.deep.equal([400, 'blocked', field])
    }
  })

  it('to change or bring back a domain is refused as the change itself is', async () => {
    const { ben, add, decide } = started
    const id = await made('/api/domain/add', { domain: 'https://brand.example' })
    await add({ domain: 'brand.example' })
    const host = free()
    const update = () => ask('PUT', `/api/domain/${id}/update`, { redirectroot: `https://${host}/` })
    const changed = proposed(await until(update, ({ status }) => status === 202))
    await blockHost(host)
    expect(await approved(changed)).to.deep.equal([400, 'blocked', 'redirectroot'])
    expect(problem(await update())).to.deep.equal([400, 'blocked', 'redirectroot'])

    const removed = proposed(await ask('DELETE', `/api/domain/${id}/delete`))
    expect((await decide(ben, 'approve', removed)).status).to.equal(200)
    const back = proposed(await ask('POST', `/api/domain/${id}/restore`, {}))
    await operate({ type: 'Block', kind: 'domain', value: 'brand.example', reason: 'x' })
    await isBlocked(() => ask('POST', '/api/domain/add', { domain: 'https://brand.example' }))
    expect(await approved(back)).to.deep.equal([400, 'blocked', 'domain'])
  })
})
