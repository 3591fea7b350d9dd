import { expect } from 'chai'
import { type Decider, fold, Refused, type Refusal } from '../../src/commands/decider.ts'
import type { Recorded } from '../../src/events/event.ts'
import { type DomainEvent, events as schemas } from '../../src/events/index.ts'
import { type Change, changesOf, coalesce, type Projection, type Row } from '../../src/projections/projection.ts'
import { recorded } from './events.ts'

/** What is decided on may not be changed by deciding: writing to it throws. */
const frozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null) return value
  Object.values(value).forEach(frozen)
  return Object.freeze(value)
}
const refusalOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    if (error instanceof Refused) return { code: error.code, what: error.what }
    throw error
  }
  return expect.fail('it was not refused')
}
/** An event as the log gives it back: a field that its schema does not know is lost. */
const kept = ({ type, data }: DomainEvent) => schemas[type].parse(JSON.parse(JSON.stringify(data)))

/** The log's events of these types: how a decider's own type spells their optional fields is no matter. */
type Logged<E extends { readonly type: string }> = Extract<DomainEvent, { type: E['type'] }>

/**
 * Given past events, when a command, then what follows. A command that was accepted is run a second time: it must give nothing,
 * and what ended a thing finds nothing any more.
 */
export const spec = <C extends { readonly type: string }, S, E extends DomainEvent>(decider: Decider<C, S, E>) => ({
  given: (...past: readonly Logged<E>[]) => ({
    when: (command: C) => {
      const before = frozen(fold(decider, frozen(past as readonly unknown[] as E[])))
      const decide = (state: S) => decider.decide(frozen(command), state)
      return {
        thenEvents: (...expected: readonly Logged<E>[]) => {
          const events = decide(before)
          expect(events).to.deep.equal(expected)
          expect(events.map(kept)).to.deep.equal(events.map(({ data }) => data))
          const after = frozen(fold(decider, events, before))
          if (/^(Delete|Erase)/.test(command.type)) expect(refusalOf(() => decide(after)).code).to.equal('not_found')
          else expect(decide(after), 'sent twice').to.deep.equal([])
        },
        thenNothing: () => expect(decide(before)).to.deep.equal([]),
        /** `what` names the unique name that is taken. */
        thenRefused: (code: Refusal, what?: string) =>
          expect(refusalOf(() => decide(before))).to.deep.equal({ code, what }),
        /** The unique names that have to be had before the command's events may be appended. */
        thenClaims: (...expected: readonly { kind: string; name: string; token: string }[]) =>
          expect(decider.claims?.(command, decide(before)) ?? []).to.deep.equal(expected),
      }
    },
  }),
})

/** Rows by their keys, by table. */
export type Tables = Map<string, Map<string, Row>>

/** Changes carried out one by one, as `Change` describes them: what a database has to come to. */
export const applyInMemory = (tables: Tables, changes: readonly Change[]): Tables => {
  for (const change of changes) {
    const table = tables.get(change.table) ?? new Map<string, Row>()
    tables.set(change.table, table)
    const at = Object.entries(change.key).map(String).sort().join()
    const row = table.get(at)
    switch (change.op) {
      case 'put':
        table.set(at, { ...change.key, ...change.row })
        break
      case 'patch':
        if (row) table.set(at, { ...row, ...change.row })
        break
      case 'add': {
        const sums = Object.entries(change.row).map(([name, n]) => [name, Number(row?.[name] ?? 0) + n])
        table.set(at, { ...change.key, ...row, ...Object.fromEntries(sums) })
        break
      }
      case 'remove':
        table.delete(at)
    }
  }
  return tables
}

/** Given events, then the rows of a table; wherever the events are cut into batches, the rows are the same. No database is needed. */
export const projectionSpec = (projection: Projection) => ({
  given: (...past: readonly (DomainEvent | Recorded<DomainEvent>)[]) => {
    if (!('on' in projection)) throw new Error(`${projection.name} needs a database`)
    const events = recorded(past)
    const changes = (some: readonly Recorded<DomainEvent>[]) => some.flatMap((event) => changesOf(projection, event))
    const rows = (tables: Tables, table: string) => [...(tables.get(table)?.values() ?? [])]
    return {
      thenRows: (table: string, ...expected: readonly Row[]) => {
        expect(Object.keys(projection.tables)).to.include(table)
        const oneByOne = applyInMemory(
          new Map(),
          events.flatMap((event) => changes([event])),
        )
        expect(rows(oneByOne, table)).to.have.deep.members(expected)
        for (let cut = 0; cut < events.length; cut++) {
          const batches = [events.slice(0, cut), events.slice(cut)]
          const batched = applyInMemory(
            new Map(),
            batches.flatMap((batch) => coalesce(changes(batch))),
          )
          expect(
            rows(batched, table),
            `in batches of ${batches.map((batch) => batch.length).join(' and ')}`,
          ).to.have.deep.members(expected)
        }
      },
    }
  },
})
