import { randomUUID } from 'node:crypto'

/** Bounded, and without characters that mean something in a log line, in JSON, in a header or in a terminal. */
const accepted = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/

/**
 * Returns the id of a request: the one that the client sent, or a new one (a UUID) if it sent none, or one of another
 * form.
 */
export const requestId = (sent: string): string => (accepted.test(sent) ? sent : randomUUID())
