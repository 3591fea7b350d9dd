import { Agent, type IncomingMessage, request } from 'node:http'
import { brotliDecompressSync, unzipSync } from 'node:zlib'

/** What `fetch` sends with each request. */
const usual = {
  accept: '*/*',
  'accept-language': '*',
  'accept-encoding': 'gzip, deflate',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
}

/**
 * Connections are kept, like those of `fetch`, and for less time than servers keep them: a request fails when its
 * connection is closed by the server at the same moment. An idle one does not keep the process running.
 */
const agent = new Agent({ keepAlive: true, timeout: 3000 })

export interface Exchange {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}
export interface Exchanged {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const readText = (response: IncomingMessage, bytes: Buffer) => {
  const encoding = bytes.length === 0 ? undefined : response.headers['content-encoding']
  if (encoding === 'br') return brotliDecompressSync(bytes).toString()
  return (encoding === 'gzip' || encoding === 'deflate' ? unzipSync(bytes) : bytes).toString()
}

const headersOf = ({ rawHeaders }: IncomingMessage) => {
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!)
  return headers
}

const send = (url: string, { method, headers, body }: Exchange) =>
  new Promise<Exchanged>((resolve, reject) => {
    const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const all = { ...usual, ...length, ...(Object.fromEntries(own) as Record<string, string>) }
    const sent = request(new URL(url), { method, agent, headers: all }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        try {
          const text = readText(response, Buffer.concat(chunks))
          resolve({ status: response.statusCode!, headers: headersOf(response), text })
        } catch (error) {
          reject(error as Error)
        }
      })
    })
    sent.on('error', (error) => reject(Object.assign(error, { idle: sent.reusedSocket })))
    sent.end(body)
  })

/**
 * A server may close an idle connection at the moment when it is used again. Then clients send a GET once more (RFC
 * 9112, 9.3.1).
 */
const closedMeanwhile = (error: unknown) => (error as { readonly idle?: boolean }).idle === true

/**
 * Sends a request and reads the response to its end, as `fetch` does without following redirects. It takes a quarter of
 * the processor time of `fetch`, which was a tenth of what the flows cost.
 */
export const exchange = (url: string, sent: Exchange) =>
  send(url, sent).catch((error: unknown) => {
    if (sent.method === 'GET' && closedMeanwhile(error)) return send(url, sent)
    throw error
  })
