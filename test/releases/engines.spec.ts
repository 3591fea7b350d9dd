import { join } from 'node:path'
import { expect } from 'chai'
import { handler } from '../../src/commands/handle.ts'
import { asStored, type Codec, codec } from '../../src/events/codec.ts'
import type { New } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import type { EventStore } from '../../src/events/store.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { memoryStore } from '../support/memorystore.ts'
import type { Opening } from '../../src/store/open.ts'
import { changes } from './changes.ts'
import { differences, unexplained } from './compare.ts'
import { startDouble } from '../support/eventstoredb.ts'
import type { Json } from './database.ts'
import { foldAll } from './folds.ts'
import { openKeysOf, readJson, readLines, releases, versions } from './release.ts'

interface Engine {
  readonly store: EventStore
  readonly close: () => Promise<unknown>
}
const engines: Readonly<Record<string, (codec: Codec, opening: Opening) => Promise<Engine>>> = {
  memory: async (as) => ({ store: await memoryStore(as), close: async () => {} }),
  'EventStoreDB (a stand-in)': async (as, opening) => {
    const server = await startDouble()
    const store = await eventStoreDb({ url: server.url, codec: as, opening })
    return { store, close: () => store.close().then(server.close) }
  },
}

const eventOf = ({ id, type, data, metadata }: Json) => ({ id, type, data, metadata }) as unknown as New<DomainEvent>

/** Appends the events of a stored log unchanged, except the first, which opens the log. */
const fill = async (store: EventStore, lines: readonly Json[]) => {
  for (const line of lines.slice(1)) {
    const { stream, revision } = line as { stream: string; revision: number }
    const expected = revision === 0 ? ('no_stream' as const) : BigInt(revision - 1)
    expect(await store.append([{ stream, expected, events: [eventOf(line)] }])).to.include({ ok: true }, stream)
  }
}

/**
 * Returns only the states: positions and times differ between engines, and the progress of spools does not depend on
 * the log alone.
 */
const statesOf = (folds: Json) =>
  Object.fromEntries(
    Object.entries(folds)
      .filter(([stream]) => !stream.startsWith('clicks-'))
      .map(([stream, fold]) => [stream, (fold as { readonly state?: unknown }).state ?? fold]),
  )

for (const version of versions)
  for (const [name, open] of Object.entries(engines))
    describe(`the log of release ${version} in another engine: ${name}`, () => {
      it('folds to the same states', async function () {
        this.timeout(300_000)
        const dir = join(releases, version)
        const lines = await readLines(dir, 'log.jsonl')
        const keys = await openKeysOf(dir)
        const as = { encode: asStored.encode, decode: codec(keys.keys).decode }
        const { store, close } = await open(as, eventOf(lines[0]!) as Opening)
        try {
          await fill(store, lines)
          const stored = await readJson<Json>(dir, 'folds.json')
          const streams = Object.keys(statesOf(stored))
          const now = await foldAll({ store, handler: handler(store) }, streams)
          const [before, after] = [statesOf(stored), statesOf(now)]
          expect(Object.keys(after)).to.have.members(Object.keys(before))
          const found = Object.entries(before).flatMap(([stream, state]) =>
            differences(state, after[stream], `folds/${stream}.state`),
          )
          const listed = changes.filter(({ release }) => release === version)
          expect(unexplained(found, 'folds', listed)).to.deep.equal([])
        } finally {
          await close()
          await keys.close()
        }
      })
    })
