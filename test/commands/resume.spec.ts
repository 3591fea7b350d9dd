import { expect } from 'chai'
import { link } from '../../src/commands/links/link.ts'
import { findOutcome } from '../../src/commands/resume.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import { linkCreated, recorded } from '../support/events.ts'

const id = 'the command'
const command = { type: 'DeleteLink', id: 42, account: 1 } as const

/** Returns what the command has done to a stream in which it has appended these of the events. */
const outcomeOf = (events: readonly DomainEvent[], own: readonly number[]) => {
  const stored = recorded(events).map((event, i) => ({
    ...event,
    stream: 'link-42',
    revision: BigInt(i),
    metadata: { ...event.metadata, command: own.includes(i) ? id : `another ${i}` },
  }))
  const read = async function* () {
    yield* stored
  }
  return findOutcome({ read }, link, command, id)
}

describe('the result of an earlier execution of a command', () => {
  const created = linkCreated()
  const fenced: DomainEvent = { type: 'ClaimFenced', data: { token: 'old' } }

  it('is nothing while the stream has events of other commands only', async () => {
    expect(await outcomeOf([created], [])).to.equal(undefined)
  })

  it('is the state and the revision after its last event', async () => {
    const found = await outcomeOf([created, fenced], [0])
    expect(found).to.deep.include({ before: link.initialState, position: 1n, revision: 0 })
    expect(found?.events.map(({ type }) => type)).to.deep.equal(['LinkCreated'])
  })

  it('has nothing that others have changed since', async () => {
    const deleted: DomainEvent = { type: 'LinkDeleted', data: { id: 42 } }
    expect((await outcomeOf([created, deleted], [0]))?.state.status).to.equal('open')
    expect((await outcomeOf([created, deleted], [1]))?.before.status).to.equal('open')
  })

  it('is empty when it has only fenced off a claim, as a preparation', async () => {
    expect(await outcomeOf([fenced], [0])).to.equal(undefined)
    expect(await outcomeOf([created, fenced], [1])).to.equal(undefined)
    expect((await outcomeOf([fenced, created], [0, 1]))?.revision).to.equal(1)
  })
})
