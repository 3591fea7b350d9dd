import { loaderUntil } from '../../commands/former.ts'
import { uncounted } from '../../http/api/limits/limiter.ts'
import { noFrameChecks } from '../jobs/framing.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { projections } from '../../projections/index.ts'
import { type Checkpoint, checkpointsOf } from '../../projections/engine/tables.ts'
import type { Contained } from '../../queries/history/tablesat.ts'
import type { Ledger } from '../log/ledger.ts'
import type { Effects } from '../effects.ts'

/** Returns the newest event of each kind that the tables in a schema have. */
const readContained = async ({ db }: Pick<Ledger, 'db'>, schema: string): Promise<Contained> => {
  const rows = await db<Checkpoint>(checkpointsOf({ schema })).select()
  const newest = (kind: string) => {
    const names = projections.filter(({ filter }) => filter === kind).map(({ name }) => name)
    const positions = rows
      .filter(({ projection }) => names.includes(projection))
      .map(({ position }) => BigInt(position))
    return positions.reduce((a, b) => (a > b ? a : b), 0n)
  }
  return { domain: newest('domain'), clicks: newest('clicks') }
}

/** What a site does besides answering is left out: a replay changes nothing, and its tables stay as they are. */
export const replayEffects = async (past: Ledger, schema: string, moment: Date): Promise<Effects> => {
  const { ordinals, reader, store } = past
  const contained = await readContained(past, schema)
  return {
    startJobs: () => ({
      services: {
        frameChecks: noFrameChecks,
        reclassifyJobs: { claim: async () => undefined, begin: async () => false, of: async () => undefined },
        webhooks: {
          test: () => Promise.reject(new OperatorError('a replay sends nothing')),
          resend: () => Promise.reject(new OperatorError('a replay sends nothing')),
          problemOf: () => undefined,
          close: async () => {},
        },
      },
      close: async () => {},
    }),
    past: {
      ordinals,
      present: async () => ({ reader, contained, end: async () => {} }),
      earlier: undefined,
      loadUntil: (position) => loaderUntil(store, position),
    },
    repeat: () => async () => {},
    limiter: {
      count: async (_, limit, seconds) => uncounted(limit, seconds),
      uncount: async () => {},
      take: async (_, limit, seconds) => uncounted(limit, seconds),
    },
    recordUse: () => {},
    misses: { note: () => {}, write: async () => {} },
    now: () => moment.getTime(),
  }
}
