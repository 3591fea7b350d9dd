import { signal } from '@preact/signals'
import { acting } from './acting.ts'
import { type Told, told } from './messages.ts'
import { isRefusedInPast } from './past.ts'
import { fill, t } from './texts.ts'
import { moment, momentText } from './time.ts'

/** A request that failed. `message` is a sentence for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 when there was no answer */
  readonly status: number
  /** the field that it is about, by its name in the API */
  readonly field: string | undefined
  /** the message next to the field */
  readonly words: string
  readonly body: Readonly<Record<string, unknown>>
  constructor(status: number, what: Told | string, body: Readonly<Record<string, unknown>> = {}) {
    const { field, words, message } = typeof what === 'string' ? { field: undefined, words: what, message: what } : what
    super(message)
    this.status = status
    this.field = field
    this.words = words
    this.body = body
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Counts stored changes: screens then read their data again. */
export const changes = signal(0)
/** Counts changes that wait for the approval of another member. */
export const proposed = signal(0)
/** Whether the signed-in person may not act in the account of the page: they may have signed in in another tab. */
export const foreign = signal(false)
const isForeign = (answer: Answer | undefined) =>
  answer?.['code'] === 'not_found' && (answer['params'] as { readonly what?: string } | undefined)?.what === 'account'
/** Whether the session is known to have ended. */
export const signedOut = signal(false)

/** how long to wait for an answer, unless a file is sent */
const timeoutMs = 20_000

/** Returns a signal that also aborts after a while. `AbortSignal.any` is missing in browsers of 2023. */
const orTimeout = (signal: AbortSignal | undefined, isFile: boolean) => {
  const stop = new AbortController()
  const abort = () => stop.abort()
  const timer = isFile ? undefined : setTimeout(abort, timeoutMs)
  signal?.addEventListener('abort', abort, { once: true })
  return { signal: stop.signal, end: () => clearTimeout(timer) }
}

type Answer = Readonly<Record<string, unknown>>

/** Returns the body, undefined when it is not JSON. Throws when it arrives incomplete. */
const read = async (response: Response): Promise<Answer | undefined> => {
  const text = await response.text()
  try {
    return JSON.parse(text) as Answer
  } catch {
    return undefined
  }
}

const send = async (method: Method, path: string, body: unknown, signal?: AbortSignal) => {
  const isFile = body instanceof Blob
  const limited = orTimeout(signal, isFile)
  try {
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      signal: limited.signal,
      headers: {
        ...(acting() !== undefined && { 'Linkledger-Account': String(acting()) }),
        ...(body !== undefined && { 'Content-Type': isFile ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
    })
    return { response, answer: await read(response) }
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, limited.signal.aborted ? t().errors.slow : t().errors.offline)
  } finally {
    limited.end()
  }
}

/** Asks for the password again, and returns whether it was right. Loaded when a request needs it. */
let confirmPassword = async () => false
export const confirmWith = (confirm: () => Promise<boolean>): void => {
  confirmPassword = confirm
}

/** Whether a request only previews a change. */
const isPreview = (path: string, body: unknown) =>
  /dryRun=true|\/rehearse$/.test(path) ||
  (path.endsWith('/restore') && (body as { readonly dryRun?: boolean } | undefined)?.dryRun === true)

/** Lists have `error` as a string. */
const isDone = ({ error = 0 }: Answer) => error === 0 || error === '0'

/** Returns the problem with its times in the reader's time zone: the moment from which clicks are kept. */
const locally = (body: Answer): Answer => {
  const { first, ...others } = { ...(body['params'] as { readonly first?: string }) }
  return first === undefined ? body : { ...body, params: { ...others, first: momentText(moment(first)) } }
}

const problemOf = async (status: number, body: Answer, retry: string | null) => {
  if (status === 429) return fill(t().errors.tooMany, { n: retry ?? '60' })
  return typeof body['message'] === 'string' ? told(locally(body)) : t().errors.unknown
}

/**
 * Sends a request to the API and returns its answer. Throws `ApiError`. An ended session leads to the sign-in. A
 * request that needs the password again is repeated after the password.
 */
export const request = async <T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> => {
  if (isRefusedInPast(method, path)) throw new ApiError(405, t().past.readOnlyWhy)
  const { response, answer } = await send(method, path, body, signal)
  if (response.ok && answer && isDone(answer)) {
    if (response.status === 202) proposed.value++
    if (method !== 'GET' && !isPreview(path, body)) changes.value++
    return answer as T
  }
  if (response.status === 401) signedOut.value = true
  if (isForeign(answer)) foreign.value = true
  if (answer?.['code'] === 'confirmation_needed' && (await confirmPassword()))
    return request(method, path, body, signal)
  throw new ApiError(
    response.status,
    await problemOf(response.status, answer ?? {}, response.headers.get('Retry-After')),
    answer,
  )
}

export const get = <T>(path: string, signal?: AbortSignal) => request<T>('GET', path, undefined, signal)
