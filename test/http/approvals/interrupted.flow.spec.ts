import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { block } from '../../../src/commands/operator/block.ts'
import { link } from '../../../src/commands/links/link.ts'
import { approval } from '../../../src/commands/approvals/approval.ts'
import { commandOf, abandoned } from '../../../src/http/approvals/made.ts'
import { waitingProposal } from '../../../src/http/approvals/proposed.ts'
import { failure, proposed, startWithRules } from '../../support/approvals.ts'
import { until } from '../../support/client.ts'

describe('an approval that ended before it had made the change', () => {
  let started: Awaited<ReturnType<typeof startWithRules>>
  before(async () => {
    started = await startWithRules()
  })
  after(() => started.app.close())

  const handler = () => started.app.app.ledger.handler
  const context = () => ({
    account: started.account,
    actor: { kind: 'session', member: 2, role: 'editor' } as const,
    request: 'r',
    command: randomUUID(),
    at: new Date().toISOString(),
  })
  /** Stores of an approval what a killed process has: that it was given, and nothing else. */
  const approvedOnly = async (number: number, member = 2) => {
    await handler().handle(approval, { type: 'Approve', id: started.account, number, member }, context())
    return number
  }
  /** Whether a person may refuse it by then. */
  const isLeft = async (number: number, minutes: number) => {
    const of = { account: started.account, number }
    const waiting = await waitingProposal(handler(), started.account, number)
    return (await abandoned(handler(), waiting, of, Date.now() + minutes * 60_000)) !== undefined
  }
  const statusOf = async (number: number) => (await started.found(number)).json['details'].status as string
  const splash = { name: 'one', title: 'harmless', counter: 5 }

  it('is checked again when it is repeated: nothing out of date, and nothing blocked, is made', async () => {
    const { app, ann, ben, asked, add, change, decide, detailsOf } = started
    const page = Number((await asked(ann, 'POST', '/api/splash/add', splash)).json['id'])
    const [id, other] = [await add(), await add()]
    const number = await approvedOnly(proposed(await change(id, { type: `splash-${page}` })))
    expect((await asked(ann, 'PUT', `/api/splash/${page}/update`, { ...splash, title: 'evil' })).status).to.equal(200)
    expect((await decide(ben, 'approve', number)).status).to.equal(409)
    expect(await statusOf(number)).to.equal('stale')
    expect((await detailsOf(id)).type).to.equal('direct')

    const url = 'https://blocked-later.example/'
    const blocked = await approvedOnly(proposed(await change(other, { url })))
    const command = { type: 'Block', kind: 'host', value: new URL(url).host, reason: 'x' } as const
    await handler().handle(block, command, operatorContext(app.config, null))
    await until(
      () => asked(ann, 'POST', '/api/url/add', { url }),
      ({ json }) => json['code'] === 'blocked',
    )
    expect(failure(await decide(ben, 'approve', blocked)).slice(0, 2)).to.deep.equal([400, 'blocked'])
    expect((await detailsOf(other)).longurl).to.equal('https://example.com/a')
    expect(await statusOf(blocked)).to.equal('open')
    expect(await isLeft(blocked, 11)).to.equal(true)
  })

  it('makes the change when it is repeated, and can be refused once no request is at work on it', async () => {
    const { ann, ben, add, change, decide, detailsOf } = started
    const [one, two] = [await add(), await add()]
    const url = 'https://example.com/b'
    const made = await approvedOnly(proposed(await change(one, { url })))
    expect((await decide(ben, 'approve', made)).status).to.equal(200)
    expect((await detailsOf(one)).longurl).to.equal(url)
    const left = await approvedOnly(proposed(await change(two, { url })))
    // a request may still be at work on it
    for (const who of [ann, ben])
      expect(failure(await decide(who, 'refuse', left))).to.deep.equal([409, 'stale', 'approved'])
    expect([await isLeft(left, 9), await isLeft(left, 11)]).to.deep.equal([false, true])
    expect((await detailsOf(two)).longurl).to.equal('https://example.com/a')
  })

  it('is only brought to its end once its change is in the log', async () => {
    const { account, ben, add, change, decide, detailsOf } = started
    const [id, url] = [await add(), 'https://example.com/c']
    const number = await approvedOnly(proposed(await change(id, { url })))
    const { command } = await waitingProposal(handler(), account, number)
    const { revision } = await handler().handle(link, command as Parameters<typeof link.decide>[0], {
      ...context(),
      command: commandOf(account, number),
    })
    expect(await isLeft(number, 11)).to.equal(false)
    expect((await decide(ben, 'approve', number)).status).to.equal(200)
    expect(await statusOf(number)).to.equal('approved')
    expect(await detailsOf(id)).to.include({ longurl: url, revision })
  })
  it('given another approval, then it is not refused while that one makes the change', async () => {
    const { account, ben, add, change, decide, detailsOf, join } = started
    const { session: carol, number: member } = await join('editor')
    const [id, url] = [await add(), 'https://example.com/d']
    const number = await approvedOnly(proposed(await change(id, { url })))
    const of = { account, number }
    const found = await abandoned(
      handler(),
      await waitingProposal(handler(), account, number),
      of,
      Date.now() + 11 * 60_000,
    )
    const refuse = async (unmade: number | undefined) =>
      handler().handle(approval, { type: 'Refuse', id: account, number, member: 2, unmade }, context())
    await approvedOnly(number, member)
    const refused = await refuse(found).catch((error: unknown) => error)
    expect(refused).to.include({ code: 'stale' })
    expect((await decide(carol, 'approve', number)).status).to.equal(200)
    expect((await detailsOf(id)).longurl).to.equal(url)
    expect((await started.found(number)).json['details'].decider.id).to.equal(member)

    const other = await approvedOnly(proposed(await change(id, { url: `${url}2` })))
    const { approved } = await waitingProposal(handler(), account, other)
    const left = { type: 'Refuse', id: account, number: other, member: 2, unmade: approved } as const
    await handler().handle(approval, left, context())
    expect((await decide(ben, 'approve', other)).status).to.equal(404)
    expect((await detailsOf(id)).longurl).to.equal(url)
  })
})
