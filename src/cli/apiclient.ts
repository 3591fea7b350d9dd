import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { OperatorError } from '../lib/operatorerror.ts'

type Json = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>
/** Returns the bytes of a body. It is called again when they have to be sent again. */
export type Body = () => AsyncIterable<Uint8Array | string>

/** times that a request is sent while the service is busy or away */
const tries = 10
/** s to wait for the next one, where the answer does not say */
const pause = 5
/** What says that the same request may be done later. */
const passing: ReadonlySet<number> = new Set([408, 429, 502, 503, 504])

/** Returns a body, and what it fails with: `fetch` says the same then as without a connection. */
const noting = (body: Body) => {
  const failed: unknown[] = []
  const read = async function* () {
    // while a part is sent, an error is that of the connection
    let isSending = false
    try {
      for await (const part of body()) {
        isSending = true
        yield part
        isSending = false
      }
    } catch (error) {
      if (!isSending) failed.push(error)
      throw error
    }
  }
  return { read, failed }
}

/** Opens a client of the API of a service, for commands that work with an API key. A refusal is an `OperatorError`. */
export const openApiClient = (address: string, key: string) => {
  const request = async (method: string, path: string, body?: Body, own: Headers = {}): Promise<Response> => {
    for (let n = 1; ; n++) {
      const sent = body && noting(body)
      const init = {
        method,
        headers: { Authorization: `Bearer ${key}`, ...own },
        ...(sent && { body: Readable.toWeb(Readable.from(sent.read())), duplex: 'half' }),
      }
      // the rule that only `lib/fetch.ts` makes requests is for the service; this is a client of it
      // oxlint-disable-next-line no-restricted-globals
      const answer = await fetch(address + path, init as RequestInit).catch((cause: unknown) => {
        // what is read to be sent fails in the same way each time
        if (sent && sent.failed.length > 0) throw sent.failed[0]
        if (n === tries) throw new OperatorError(`${address} cannot be reached: name the service with --to`, { cause })
      })
      // the service may still do what was sent before
      const isRepeated = n > 1 && answer?.status === 409 && answer.headers.has('Retry-After')
      const isPassing = answer === undefined || isRepeated || passing.has(answer.status)
      if (answer && (!isPassing || n >= tries)) {
        if (answer.ok) return answer
        const said = (await answer.json().catch(() => null)) as { readonly message?: string } | null
        throw new OperatorError(`the service answered ${answer.status}: ${said?.message ?? ''}`)
      }
      await answer?.body?.cancel()
      await sleep(1000 * (Number(answer?.headers.get('Retry-After')) || pause))
    }
  }
  const json = async (answer: Response): Promise<Json> => {
    const unlike = (cause?: unknown): never => {
      const text = `${address} does not answer as this service does: name the service with --to`
      throw new OperatorError(text, { cause })
    }
    const found: unknown = await answer.json().catch(unlike)
    return typeof found === 'object' && found !== null ? (found as Json) : unlike()
  }
  return {
    ask: async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Json> => {
      const sent = body && (() => [Buffer.from(JSON.stringify(body))] as unknown as AsyncIterable<Uint8Array>)
      return json(await request(method, path, sent, body && { 'Content-Type': 'application/json' }))
    },
    /** Sends a file. Sent again, it is the same request to the service, which does it once. */
    send: async (path: string, body: Body): Promise<Json> => {
      const headers = { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': randomUUID() }
      return json(await request('POST', path, body, headers))
    },
    download: async (path: string) => (await request('GET', path)).body!,
  }
}
export type ApiClient = ReturnType<typeof openApiClient>
