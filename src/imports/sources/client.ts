import { setTimeout as sleep } from 'node:timers/promises'
import { problem, type Problem } from '../../lib/problems/problem.ts'
import { readJson } from '../../lib/strangers.ts'
import { UnreadableSource } from '../records.ts'

/** bytes of an answer, and what may be in it */
const bodyLimit = 16 * 1024 * 1024
const limits = { levels: 64, values: 1_000_000 }
/** ms for an answer */
const deadline = 60_000
/** how often a request is tried, and the longest time between two tries: Bitly counts by the hour */
const [mostTries, longestPause] = [8, 3_900_000]

export interface ClientOptions {
  readonly fetch: typeof globalThis.fetch
  readonly signal: AbortSignal
  /** waits; replaced in tests */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>
}
interface Request {
  /** sent as a form by POST, so that no log has it */
  readonly form?: Readonly<Record<string, string>>
  /** Returns undefined for an address that is not there, instead of failing. */
  readonly isOptional?: boolean
}
export type Ask = (path: string, query?: Readonly<Record<string, string>>, request?: Request) => Promise<unknown>

const refuse = (found: Problem, cause?: unknown): never => {
  throw new UnreadableSource(found, { cause })
}

/** Returns how many ms the server wants to be left alone (RFC 9110, 10.2.3). */
const retryAfter = (header: string | null, tries: number): number => {
  const text = header?.slice(0, 64).trim() ?? ''
  const asked = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Math.min(longestPause, asked > 0 ? asked : 1000 * 2 ** tries)
}

const bodyIn = async (answer: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > bodyLimit) refuse(problem('too_large', { what: 'file', field: 'address', max: '16 MiB' }))
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks).toString()
}

/**
 * Returns what asks an API, one request after another and no faster than it allows. A request that the server is too
 * busy for, or that gets no answer, is repeated.
 */
export const createClient = (
  address: URL,
  headers: Readonly<Record<string, string>>,
  interval: number,
  { fetch: send, signal, pause = (ms, stop) => sleep(ms, undefined, { signal: stop }) }: ClientOptions,
): Ask => {
  const base = new URL(address)
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  let free = 0

  const once = async (url: URL, form: Request['form']) => {
    const wait = free - Date.now()
    if (wait > 0) await pause(wait, signal)
    free = Date.now() + interval
    const answer = await send(url, {
      headers: { Accept: 'application/json', 'User-Agent': 'Linkledger', ...headers },
      // a key is not sent to another address
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(deadline)]),
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    return { answer, text: await bodyIn(answer) }
  }
  const attempt = async (url: URL, form: Request['form']) => {
    try {
      return await once(url, form)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof UnreadableSource) throw error
      return { error }
    }
  }

  return async (path, query = {}, { form, isOptional = false } = {}) => {
    const url = new URL(path, base)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    for (let tries = 1; ; tries++) {
      const asked = await attempt(url, form)
      const status = 'answer' in asked ? asked.answer.status : 0
      const isBusy = status === 0 || status === 429 || status >= 500
      if (isBusy && tries < mostTries) {
        await pause(retryAfter('answer' in asked ? asked.answer.headers.get('retry-after') : null, tries), signal)
        continue
      }
      if (!('answer' in asked))
        return refuse(problem('not_fetched', { what: 'unreachable', field: 'address' }), asked.error)
      if (status === 404 && isOptional) return undefined
      if (status >= 300 && status < 400) refuse(problem('not_fetched', { what: 'redirect', field: 'address' }))
      if (status !== 200) refuse(problem('not_fetched', { what: 'status', field: 'address', status }))
      const read = readJson(asked.text, limits)
      return 'value' in read ? read.value : refuse(problem('wrong_body', { what: 'list' }))
    }
  }
}
