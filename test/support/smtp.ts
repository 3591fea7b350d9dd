import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

export interface ReceivedMail {
  readonly to: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

const decodeText = (text: string, encoding = '') => {
  if (/base64/i.test(encoding)) return Buffer.from(text, 'base64').toString()
  if (!/quoted-printable/i.test(encoding)) return text
  const bytes = text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
const decodeHeader = (value: string) =>
  value
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?(.*?)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : decodeText(word.replaceAll('_', ' '), 'quoted-printable'),
    )

const parse = (to: string, data: string): ReceivedMail => {
  const [head = '', ...rest] = data.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const end = line.indexOf(':')
      return [line.slice(0, end).toLowerCase(), decodeHeader(line.slice(end + 1).trim())]
    }),
  )
  return { to, headers, text: decodeText(rest.join('\r\n\r\n'), headers['content-transfer-encoding']) }
}

/**
 * A mail server on this machine that keeps what it receives. `greet(false)` makes it silent: clients connect, and wait.
 */
export const startSmtp = async () => {
  const mails: ReceivedMail[] = []
  const held: Socket[] = []
  let silent = false
  const open = new Set<Socket>()

  const talk = (socket: Socket) => {
    let [to, data, buffer] = ['', undefined as string | undefined, '']
    const answer = (line: string) => {
      if (data !== undefined) {
        if (line !== '.') return void (data += `${line.replace(/^\./, '')}\r\n`)
        mails.push(parse(to, data))
        data = undefined
        return void socket.write('250 accepted\r\n')
      }
      const [verb = ''] = line.toUpperCase().split(/[ :]/)
      if (verb === 'RCPT') to = /<(.*)>/.exec(line)?.[1] ?? ''
      if (verb === 'RCPT' && to.startsWith('refused')) return void socket.write('550 no such user\r\n')
      if (verb === 'DATA') {
        data = ''
        return void socket.write('354 go on\r\n')
      }
      return void socket.write(verb === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
    }
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      buffer += chunk
      const lines = buffer.split('\r\n')
      buffer = lines.pop() ?? ''
      lines.forEach(answer)
    })
    socket.write('220 ready\r\n')
  }

  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
    if (silent) held.push(socket)
    else talk(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    /** connections that wait for a greeting */
    held,
    /** Sets whether clients are greeted, also those that wait. */
    greet: (greets: boolean) => {
      silent = !greets
      if (greets) held.splice(0).forEach(talk)
    },
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        open.forEach((socket) => socket.destroy())
      }),
  }
}
export type Smtp = Awaited<ReturnType<typeof startSmtp>>
