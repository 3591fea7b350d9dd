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
  isMine,
  renewRequests,
  type RequestKey,
  storeAnswer,
  storeDrawn,
  takeRequest,
  trimAnswers,
} from '../postgres/idempotency.ts'
import type { Keys } from './keyring.ts'
import { seal, sealBytes, unseal, unsealBytes } from './seal.ts'

/** An answer of the API, stored to be repeated. */
export interface StoredAnswer {
  readonly status: number
  readonly body: object
}

/** The request was sent again and taken over, because this execution was frozen: it must no longer write. */
export class TakenOver extends Error {
  override readonly name = 'TakenOver'
}

/** A request that is executed under an Idempotency-Key. */
export interface Execution {
  /** id from which the ids of its commands are derived */
  readonly command: string
  /** whether an earlier execution ended without an answer: it may have appended events */
  readonly resumed: boolean
  /** Returns the id that an earlier execution has drawn for something that the request creates. */
  readonly drawn: (what: string) => number | undefined
  /** Called before a write. Throws `TakenOver` when another execution has taken the request over. */
  readonly hold: () => Promise<unknown>
  /** Stores such an id before it is used. Throws `TakenOver`. */
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
  /** Begins a request, by its key and all its other contents. `scope` is the owner of the key. */
  readonly begin: (scope: string, key: string, request: string) => Promise<Begun>
}

/** What one scope may have stored; `every`: requests between two checks; `renewal`: ms between two renewals */
const defaultLimits = { answers: 50_000, bytes: 64 * 1024 * 1024, every: 500, renewal: 15_000 }

type Taken = Pick<IdempotencyRow, 'command' | 'taken'>

const seedName = 'seed'
const context = ({ scope, key }: RequestKey) => `idempotency/${scope}/${key.toString('base64url')}`

/** Returns a function to call after each request. */
const trimming = (db: Database, { answers, bytes, every }: Omit<typeof defaultLimits, 'renewal'>) => {
  const counts = new Map<string, number>()
  return (scope: string) => {
    const count = (counts.get(scope) ?? 0) + 1
    counts.set(scope, count % every)
    if (count === every) void trimAnswers(db, scope, answers, bytes).catch(() => {})
    // the counts are no limits: losing some only delays the next check
    if (counts.size > 10_000) counts.clear()
  }
}

/** Tracks and renews the requests that this process executes: others take over a request that is not renewed. */
const openRunning = (db: Database, renewal: number) => {
  const running = new Map<string, { readonly at: RequestKey; readonly by: Taken }>()
  let timer: NodeJS.Timeout | undefined
  const renew = () => void renewRequests(db, [...running.values()]).catch(() => {})
  return {
    has: (at: RequestKey) => running.has(context(at)),
    begin: (at: RequestKey, by: Taken) => {
      running.set(context(at), { at, by })
      timer ??= setInterval(renew, renewal).unref()
    },
    end: (at: RequestKey) => {
      running.delete(context(at))
      if (running.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
  }
}

/** Returns a factory for executions of requests that this process has taken. */
const executing = (
  db: Database,
  keys: Pick<Keys, 'service' | 'forSealing'>,
  trim: ReturnType<typeof trimming>,
  running: ReturnType<typeof openRunning>,
) => {
  const keyOf = async (account: number | null) => (account === null ? keys.service : keys.forSealing(account))

  const store = async (at: RequestKey, by: Taken, account: number | null, answer: StoredAnswer) => {
    const key = await keyOf(account)
    // the account was erased meanwhile
    if (!key) return forgetRequest(db, at, by)
    await storeAnswer(db, at, by, { account, sealed: sealBytes(key, context(at), JSON.stringify(answer)) })
    trim(at.scope)
  }

  return (at: RequestKey, by: Taken, earlier?: Drawn): Execution => {
    running.begin(at, by)
    const require = (isStillMine: boolean) => {
      if (!isStillMine) throw new TakenOver('the request was sent again and taken over')
    }
    const draw = batch(1000, async (all: readonly (readonly [string, number | string])[]) => {
      require(await storeDrawn(db, at, by, Object.fromEntries(all)))
      return all
    })
    // the rows of a bulk request share a query
    const hold = batch(1000, async (all: readonly undefined[]) => {
      require(await isMine(db, at, by))
      return all
    })
    const ending = (work: Promise<void>) => work.finally(() => running.end(at))
    return {
      command: by.command,
      resumed: earlier !== undefined,
      drawn: (what) => {
        const id = earlier?.[what]
        return typeof id === 'number' ? id : undefined
      },
      hold: () => hold(undefined),
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
      answer: (account, answer) => ending(store(at, by, account, answer)),
      interrupt: () => ending(endRequest(db, at, by).then(() => trim(at.scope))),
      forget: () => ending(earlier ? endRequest(db, at, by) : forgetRequest(db, at, by)),
    }
  }
}

/** `instance` is the name of this process in the database, by which others see that it runs. */
export const openIdempotencyStore = (
  db: Database,
  keys: Pick<Keys, 'service' | 'forSealing' | 'forOpening'>,
  instance: string,
  given: Partial<typeof defaultLimits> = {},
): IdempotencyStore => {
  const hash = (of: string, text: string) =>
    createHmac('sha256', keys.service).update(`idempotency ${of} ${text}`).digest()
  /** The scope of a client without an account is its network: it is stored as a hash only. */
  const stored = (scope: string) =>
    scope.startsWith('account ') ? scope : `other ${hash('scope', scope).toString('base64url')}`
  const limits = { ...defaultLimits, ...given }
  const running = openRunning(db, limits.renewal)
  const executionOf = executing(db, keys, trimming(db, limits), running)

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
      // another process has just deleted it
      if (!row) return { kind: 'running' }
      if (!row.request.equals(sent)) return { kind: 'other' }
      if (row.sealed) {
        const answer = await open(at, row)
        return answer ? { kind: 'answered', answer } : { kind: 'other' }
      }
      // a process that was frozen has not renewed a request that it continues
      const taken = row.running || running.has(at) ? undefined : await takeRequest(db, at, row, instance)
      return taken ? { kind: 'execute', execution: executionOf(at, taken, taken.drawn) } : { kind: 'running' }
    },
  }
}
