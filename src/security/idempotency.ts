import { createHmac, randomBytes } from 'node:crypto'
import { batch } from '../lib/async/batch.ts'
import type { Database } from '../postgres/database.ts'
import {
  type Drawn,
  endRequest,
  enterRequest,
  findRequest,
  forgetRequest,
  type IdempotencyRow,
  type RequestKey,
  storeAnswer,
  storeDrawn,
  takeRequest,
  trimAnswers,
} from '../postgres/idempotency.ts'
import type { Keys } from './keyring.ts'
import { seal, sealBytes, unseal, unsealBytes } from './seal.ts'

/** An answer of the API, to be given again. */
export interface StoredAnswer {
  readonly status: number
  readonly body: object
}

/** A request that is executed under an Idempotency-Key. */
export interface Execution {
  /** id from which those of its commands are derived */
  readonly command: string
  /** whether an earlier execution has ended without an answer: it may have appended events */
  readonly resumed: boolean
  /** Returns the id that an earlier execution has drawn for one of the things that the request creates. */
  readonly drawn: (what: string) => number | undefined
  /** Stores such an id, before it is used. */
  readonly draw: (what: string, id: number) => Promise<void>
  /**
   * Returns 32 random bytes, the same in every execution. They are sealed under the key of the account; null: of the
   * service.
   */
  readonly seed: (account: number | null) => Promise<Buffer>
  /** Stores the answer under the key of the account; null: of the service. */
  readonly answer: (account: number | null, answer: StoredAnswer) => Promise<void>
  /** Ends the execution without an answer: the next request with the key continues it. */
  readonly interrupt: () => Promise<void>
  /** Ends it before anything was executed: the key counts as not used. */
  readonly forget: () => Promise<void>
}

export type Begun =
  | { readonly kind: 'execute'; readonly execution: Execution }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  /** the key was used for another request */
  | { readonly kind: 'other' }
  | { readonly kind: 'running' }

export interface IdempotencyStore {
  /** Begins a request, by the key and everything else that it consists of. `scope` is whose key it is. */
  readonly begin: (scope: string, key: string, request: string) => Promise<Begun>
}

/** What one scope may have stored; `every`: requests between two looks at it */
const defaultLimits = { answers: 50_000, bytes: 64 * 1024 * 1024, every: 500 }

const seedName = 'seed'
const context = ({ scope, key }: RequestKey) => `idempotency/${scope}/${key.toString('base64url')}`

/** Returns what is called for each request that has ended. */
const trimming = (db: Database, { answers, bytes, every }: typeof defaultLimits) => {
  const counts = new Map<string, number>()
  return (scope: string) => {
    const count = (counts.get(scope) ?? 0) + 1
    counts.set(scope, count % every)
    if (count === every) void trimAnswers(db, scope, answers, bytes).catch(() => {})
    // the counts are no limits: without some of them, the next look comes later
    if (counts.size > 10_000) counts.clear()
  }
}

/** Returns what makes executions of requests that this process has taken. */
const executing = (db: Database, keys: Pick<Keys, 'service' | 'forSealing'>, trim: ReturnType<typeof trimming>) => {
  const keyOf = async (account: number | null) => (account === null ? keys.service : keys.forSealing(account))

  return (at: RequestKey, by: Pick<IdempotencyRow, 'command' | 'taken'>, earlier?: Drawn): Execution => {
    const draw = batch(1000, async (all: readonly (readonly [string, number | string])[]) => {
      await storeDrawn(db, at, by, Object.fromEntries(all))
      return all
    })
    return {
      command: by.command,
      resumed: earlier !== undefined,
      drawn: (what) => {
        const id = earlier?.[what]
        return typeof id === 'number' ? id : undefined
      },
      draw: async (what, id) => void (await draw([what, id])),
      seed: async (account) => {
        const key = await keyOf(account)
        const stored = earlier?.[seedName]
        const place = `${context(at)}/seed`
        if (typeof stored === 'string' && key) return unseal(key, place, stored)
        const bytes = randomBytes(32)
        if (key) await draw([seedName, seal(key, place, bytes)])
        return bytes
      },
      answer: async (account, answer) => {
        const key = await keyOf(account)
        // the account was erased meanwhile
        if (!key) return forgetRequest(db, at, by)
        await storeAnswer(db, at, by, { account, sealed: sealBytes(key, context(at), JSON.stringify(answer)) })
        trim(at.scope)
      },
      interrupt: async () => {
        await endRequest(db, at, by)
        trim(at.scope)
      },
      forget: () => (earlier ? endRequest(db, at, by) : forgetRequest(db, at, by)),
    }
  }
}

/** `instance` is the name of this process in the database, by which others see that it runs. */
export const openIdempotencyStore = (
  db: Database,
  keys: Pick<Keys, 'service' | 'forSealing' | 'forOpening'>,
  instance: string,
  limits = defaultLimits,
): IdempotencyStore => {
  const hash = (of: string, text: string) =>
    createHmac('sha256', keys.service).update(`idempotency ${of} ${text}`).digest()
  /** The network of somebody without an account is in no table. */
  const stored = (scope: string) =>
    scope.startsWith('account ') ? scope : `other ${hash('scope', scope).toString('base64url')}`
  const executionOf = executing(db, keys, trimming(db, limits))

  const open = async (at: RequestKey, { account, sealed }: IdempotencyRow): Promise<StoredAnswer | undefined> => {
    const key = account === null ? keys.service : (await keys.forOpening([account])).get(account)
    return sealed && key ? (JSON.parse(unsealBytes(key, context(at), sealed).toString()) as StoredAnswer) : undefined
  }

  return {
    begin: async (scope, key, request) => {
      const at = { scope: stored(scope), key: hash('key', key) }
      const sent = hash('request', request)
      const entered = await enterRequest(db, at, sent, instance)
      if (entered) return { kind: 'execute', execution: executionOf(at, entered) }
      const row = await findRequest(db, at)
      // another process has just forgotten it
      if (!row) return { kind: 'running' }
      if (!row.request.equals(sent)) return { kind: 'other' }
      if (row.sealed) {
        const answer = await open(at, row)
        return answer ? { kind: 'answered', answer } : { kind: 'other' }
      }
      const taken = row.running ? undefined : await takeRequest(db, at, row, instance)
      return taken ? { kind: 'execute', execution: executionOf(at, taken, row.drawn) } : { kind: 'running' }
    },
  }
}
