import type { IncomingMessage } from 'node:http'
import { isUtf8 } from 'node:buffer'
import type { Credential } from './credential.ts'
import type { Person } from './issuer.ts'

/** The issuer of identities that a proxy in front of the service names. */
export const proxyIssuer = 'proxy'

/** A proxy that signs people in, and sends their name in a header of each request. */
export interface AuthProxy {
  /**
   * Returns the person whom the proxy names in a request; an empty string when it names none or more than one, and
   * undefined when the request did not come through a trusted proxy.
   */
  readonly subjectOf: (req: Pick<IncomingMessage, 'rawHeaders' | 'socket'>) => string | undefined
}

/** the longest name in UTF-16 code units */
const most = 255

/**
 * Returns the name in a header; an empty string for an invalid name or a list of names. Blanks at its ends that Node
 * does not strip make it invalid: the name might look like that of another person.
 */
const nameIn = (sent: string): string => {
  const bytes = Buffer.from(sent, 'latin1')
  const text = isUtf8(bytes) ? bytes.toString() : ''
  return text.length > most || /^\s|\s$|[,\p{C}]/u.test(text) ? '' : text
}

/**
 * Opens a reader of the proxy's header. Only the peer of the connection counts: any client can send `X-Forwarded-For`.
 */
export const openAuthProxy = (header: string, isProxy: (address: string) => boolean): AuthProxy => ({
  subjectOf: ({ rawHeaders, socket }) => {
    if (!isProxy(socket.remoteAddress ?? '')) return undefined
    const sent = rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === header)
    return sent.length === 1 ? nameIn(sent[0] ?? '') : ''
  },
})

/** Returns the person whom the proxy names; it has verified the name. */
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

/**
 * Returns the name that the proxy must send with each request of a session; undefined for a session that no proxy
 * opened.
 */
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
