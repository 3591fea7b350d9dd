import { request } from 'node:http'
import { connect } from 'node:net'

/** A response as it was sent: header names in lower case, with every value of a repeated header. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly text: string
  readonly body: Buffer
}

/** Writes bytes to a new connection and returns everything received until the server closes it or `ms` have passed. */
export const wire = (address: string, bytes: string | Buffer, ms = 5000) =>
  new Promise<string>((resolve) => {
    const { hostname, port } = new URL(address)
    let said = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const end = setTimeout(() => socket.destroy(), ms)
    socket.setEncoding('latin1').on('data', (text: string) => (said += text))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(end)
      resolve(said)
    })
  })

/** Sends what fetch cannot: any Host header, any method with a body, several headers of one name. */
export const send = (
  address: string,
  method: string,
  path: string,
  { headers = {}, body = '' }: { headers?: Readonly<Record<string, string | string[]>>; body?: string | Buffer } = {},
) =>
  new Promise<RawAnswer>((resolve, reject) => {
    const { hostname, port } = new URL(address)
    const length = body.length > 0 ? { 'Content-Length': String(Buffer.byteLength(body)) } : {}
    const asked = request(
      { hostname, port, method, path, headers: { ...length, ...headers }, agent: false },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => void parts.push(part))
        answer.on('end', () => {
          const names = [...new Set(answer.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()))]
          const all = (wanted: string) =>
            answer.rawHeaders.filter((_, i) => i % 2 === 1 && answer.rawHeaders[i - 1]?.toLowerCase() === wanted)
          const headers = Object.fromEntries(names.map((name) => [name, all(name)]))
          const body = Buffer.concat(parts)
          resolve({ status: answer.statusCode ?? 0, headers, text: body.toString(), body })
        })
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
