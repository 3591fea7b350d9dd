import { expect } from 'chai'
import { type Decider, fold, Refused } from '../../src/commands/decider.ts'
import type { Recorded } from '../../src/events/event.ts'
import { type DomainEvent, events as schemas } from '../../src/events/index.ts'
import {
  type Change,
  changesOf,
  coalesce,
  type Projection,
  splitByKeys,
} from '../../src/projections/engine/projection.ts'
import type { Row } from '../../src/projections/engine/row.ts'
import type { ProblemCode } from '../../src/lib/problems/problem.ts'
import { recorded } from './events.ts'

/** Freezes a value deeply, so that a decider that changes its input throws. */
const frozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null) return value
  Object.values(value).forEach(frozen)
  return Object.freeze(value)
}
/** Returns why a command is refused. Each refusal has an English sentence without a gap. */
const refusalOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const { code, what, message } = error
    expect(message, `the sentence of ${code}`).to.match(/^[^{}]+\.$/)
    expect(message).not.to.include('``')
    return { code, what }
  }
  return expect.fail('the command was not refused')
}
/** Returns an event's data as the log returns it: without fields that its schema does not have. */
const stored = ({ type, data }: DomainEvent) => schemas[type].parse(JSON.parse(JSON.stringify(data)))

/** The log's events of a decider's types, whose optional fields may be typed differently. */
type Logged<E extends { readonly type: string }> = Extract<DomainEvent, { type: E['type'] }>

/**
 * Given past events, when a command, then its outcome. Every accepted command is decided twice: the second time it must
 * cause no event, or, after it has deleted or erased the resource, must not find it.
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
          expect(events.map(stored)).to.deep.equal(events.map(({ data }) => data))
          const after = frozen(fold(decider, events, before))
          if (/^(Delete|Erase)/.test(command.type)) expect(refusalOf(() => decide(after)).code).to.equal('not_found')
          else expect(decide(after), 'sent twice').to.deep.equal([])
        },
        thenNothing: () => expect(decide(before)).to.deep.equal([]),
        /** `what` is checked where it is given. */
        thenRefused: (code: ProblemCode, what?: string) => {
          const refusal = refusalOf(() => decide(before))
          expect(refusal).to.deep.include({ code, ...(what !== undefined && { what }) })
        },
        /** Expects the unique names that have to be claimed before the command's events are appended. */
        thenClaims: (...expected: readonly { kind: string; name: string; token: string }[]) =>
          expect(decider.claims?.(command, decide(before), before) ?? []).to.deep.equal(expected),
      }
    },
  }),
})

/** The rows of each table, by their keys. */
export type Tables = Map<string, Map<string, Row>>

/** Applies changes one by one, as `Change` describes them; a database must give the same rows. */
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
        // the key may be a part of the table's key
        for (const [found, before] of table)
          if (Object.entries(change.key).every(([name, value]) => before[name] === value))
            table.set(found, { ...before, ...change.row })
        break
      case 'add': {
        const sums = Object.entries(change.row).map(([name, n]) => [name, Number(row?.[name] ?? 0) + n])
        table.set(at, { ...change.key, ...row, ...Object.fromEntries(sums) })
        break
      }
      case 'remove':
        for (const [found, before] of table)
          if (Object.entries(change.key).every(([name, value]) => before[name] === value)) table.delete(found)
    }
  }
  return tables
}

/**
 * Given events, then the rows of a table, which must be the same however the events are split into two batches. Needs
 * no database.
 */
export const projectionSpec = (projection: Projection) => ({
  given: (...past: readonly (DomainEvent | Recorded<DomainEvent>)[]) => {
    if (!('on' in projection)) throw new Error(`${projection.name} needs a database`)
    const events = recorded(past)
    const changes = (some: readonly Recorded<DomainEvent>[]) =>
      some.flatMap((event) =>
        changesOf(projection, event).map((change) => {
          expect(projection.tables, event.type).to.include.keys(change.table)
          expect(change.key, `${event.type} must not change every row of ${change.table}`).not.to.deep.equal({})
          return change
        }),
      )
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
            batches.flatMap((batch) => splitByKeys(changes(batch)).flatMap(coalesce)),
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
