import { addressProblem, connector, type Guard, withinDeadline } from './fetch.ts'
import { printable, readHeaders, textLimits } from './strangers.ts'
import { TimedOut } from './async/timeout.ts'
import { phraseOf, type Problem } from './problems/problem.ts'

/** What a server answered to a message, or why there is no answer. */
export type Posted =
  | {
      readonly status: number
      /** the first characters of the answer, for people */
      readonly excerpt: string
      /** seconds that the server wants us to wait */
      readonly retryAfter: number | undefined
    }
  | { readonly status: undefined; readonly problem: string }

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** ends the request early */
  readonly stop?: AbortSignal | undefined
}
export interface GuardedPost {
  readonly send: (post: Post) => Promise<Posted>
  /**
   * Returns why nothing is ever sent to an address, worded to follow the field's name; undefined while only DNS can
   * tell.
   */
  readonly problemOf: (url: string) => Problem | undefined
}

/** ms from the DNS lookup to the status of the answer, and then to the end of its excerpt */
const [deadline, excerptDeadline] = [20_000, 1000]
/** bytes that are read of an answer: a character has up to four */
const excerptBytes = 4 * textLimits.excerpt

/** Reads the beginning of a body, and waits a moment for it only: the status has said all that counts. */
const excerptOf = async (response: AsyncIterable<Buffer> & { destroy: () => unknown }): Promise<string> => {
  const chunks: Buffer[] = []
  const end = setTimeout(() => response.destroy(), excerptDeadline)
  try {
    for await (const chunk of response) {
      chunks.push(chunk.subarray(0, excerptBytes))
      if (chunks.reduce((sum, { length }) => sum + length, 0) >= excerptBytes) break
    }
  } catch {
    // what has arrived is enough
  } finally {
    clearTimeout(end)
    response.destroy()
  }
  return printable('excerpt', Buffer.concat(chunks).toString())
}

const secondsIn = (header: string | undefined) => (header && /^\d{1,6}$/.test(header) ? Number(header) : undefined)

/**
 * Opens what sends JSON to a public http or https address under the guard of `openFetch`, within 20 seconds and without
 * following redirects.
 */
export const openPost = (guard: Partial<Guard> = {}, ms = deadline): GuardedPost => {
  const connect = connector(guard)
  const post = async ({ url, headers, body }: Post, signal: AbortSignal): Promise<Posted> => {
    const sent = { headers: { ...headers, 'Content-Type': 'application/json' }, signal, body, limit: excerptBytes }
    const connected = await connect(url, sent)
    if (!('response' in connected)) return { status: undefined, problem: phraseOf(connected.problem, '`url`') }
    const { response } = connected
    const { statusCode: status = 0 } = response
    return {
      status,
      excerpt: await excerptOf(response),
      retryAfter: secondsIn(readHeaders(response.headers)['retry-after']),
    }
  }
  return {
    send: async (message) => {
      try {
        return await withinDeadline((signal) => post(message, signal), ms + excerptDeadline, message.stop)
      } catch (error) {
        const problem = error instanceof TimedOut ? 'no answer within 20 seconds' : 'the server could not be reached'
        return { status: undefined, problem }
      }
    },
    problemOf: (url) => addressProblem(url, guard),
  }
}
