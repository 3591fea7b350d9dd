import { connect } from 'node:tls'

/** What an error of the connection says about EVENTSTORE_URL. */
export interface Hint {
  readonly text: string
  /** a retry cannot help until a setting is changed */
  readonly isFinal: boolean
}

interface Known {
  readonly pattern: RegExp
  readonly hint: (detail: string) => Hint
}
const known: readonly Known[] = [
  {
    pattern: /Last error: (?:Error: )?([^.]*(?:certificate|altnames)[^.]*)/i,
    hint: (detail) => ({
      text: `its certificate is refused (${detail}): name the file with the certificate of its authority in tlsCAFile, and a host that the certificate has`,
      isFinal: true,
    }),
  },
  {
    pattern: /(wrong version number|packet length too long)/i,
    hint: (detail) => ({ text: `it does not use TLS (${detail}): add tls=false`, isFinal: true }),
  },
  {
    pattern: /Last error: (Failed to connect)/,
    hint: () => ({
      text: 'it closes the connection: if it uses TLS, remove tls=false, and name a user, a password and tlsCAFile',
      isFinal: false,
    }),
  },
]

/** Returns what to change, if the client knows why the server cannot be reached. */
export const hintOf = (error: unknown): Hint | undefined => {
  const message = error instanceof Error ? error.message : ''
  for (const { pattern, hint } of known) {
    const detail = pattern.exec(message)?.[1]
    if (detail !== undefined) return hint(detail)
  }
  return undefined
}

/** Says what to change where a server that is asked without TLS waits for it: the client only waits, too. */
export const usesTls: Hint = {
  text: 'it uses TLS: remove tls=false, and name a user, a password and tlsCAFile',
  isFinal: true,
}

/** ms for a handshake */
const handshakeMs = 1000

/** Returns whether a server at `host:port`, the first of several, answers a handshake of TLS. It is told no more. */
export const speaksTls = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const [, host = '', port] = /^\[?([^\],]+?)\]?:(\d+)(?:,|$)/.exec(address) ?? []
    const socket = connect({ host, port: Number(port ?? 2113), rejectUnauthorized: false, timeout: handshakeMs })
    const end = (found: boolean) => {
      socket.destroy()
      resolve(found)
    }
    socket.once('secureConnect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.on('error', () => end(false))
  })

/** gRPC's code for a user who is not known, or a wrong password */
const unauthenticated = 16

/** Returns why the server refuses the user; the client has one kind of error for both reasons. */
export const refusalOf = (error: { readonly code?: unknown }): string =>
  error.code === unauthenticated
    ? 'the user or the password in EVENTSTORE_URL is wrong'
    : 'the user in EVENTSTORE_URL must be allowed to append and to read $all'
