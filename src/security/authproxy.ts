import type { IncomingMessage } from 'node:http'
import { isUtf8 } from 'node:buffer'
import type { Credential } from './credential.ts'
import type { Person } from './issuer.ts'

/** The issuer of the identities that a proxy in front of the service names. */
export const proxyIssuer = 'proxy'

/** A proxy that signs people in, and names them in a header of each request. */
export interface AuthProxy {
  /**
   * Returns whom a request is of, by the proxy; an empty string when it names nobody, or more than one, and undefined
   * when the request came through no proxy that may say so.
   */
  readonly subjectOf: (req: Pick<IncomingMessage, 'rawHeaders' | 'socket'>) => string | undefined
}

/** the longest name in UTF-16 code units */
const most = 255

/**
 * Returns the name in a header, an empty string when it cannot be one. A list of names names nobody. What Node has left
 * of blanks at its ends is part of the name: one that looks like it may be that of somebody else.
 */
const nameIn = (sent: string): string => {
  const bytes = Buffer.from(sent, 'latin1')
  const text = isUtf8(bytes) ? bytes.toString() : ''
  return text.length > most || /^\s|\s$|[,\p{C}]/u.test(text) ? '' : text
}

/**
 * Opens what reads the header of a proxy. Only the peer of the connection counts: `X-Forwarded-For` is what anybody may
 * send.
 */
export const openAuthProxy = (header: string, isProxy: (address: string) => boolean): AuthProxy => ({
  subjectOf: ({ rawHeaders, socket }) => {
    if (!isProxy(socket.remoteAddress ?? '')) return undefined
    const sent = rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === header)
    return sent.length === 1 ? nameIn(sent[0] ?? '') : ''
  },
})

/** Returns who signs in that the proxy names: it has verified what it calls them. */
export const proxiedPerson = (subject: string): Person => ({
  issuer: proxyIssuer,
  subject,
  email: subject.includes('@') ? subject : undefined,
  verified: true,
  name: subject,
  authTime: undefined,
  groups: undefined,
  groupsFrom: [],
  externalId: subject,
  refreshToken: undefined,
  sid: undefined,
})

/** Returns whom the proxy has to name with each request of a session; undefined for one that no proxy has opened. */
export const proxiedBy = (
  {
    identities,
  }: {
    readonly identities: readonly {
      readonly issuer: string | null
      readonly subject: string | null
      readonly token: string
    }[]
  },
  credential: Credential,
): string | undefined => {
  const found = credential.kind === 'identity' ? identities.find(({ token }) => token === credential.token) : undefined
  return found?.issuer === proxyIssuer ? (found.subject ?? '') : undefined
}
