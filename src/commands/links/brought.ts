import { randomUUID } from 'node:crypto'
import { importOfToken } from '../../events/links/link.ts'
import { slotOf } from './places.ts'
import type { Link } from './state.ts'

/** Returns the token of a claim. That of an import names it: what is done by hand later has tokens without one. */
export const claimToken = (by?: string): string => (by === undefined ? randomUUID() : `${by}:${randomUUID()}`)

/** Whether an import has given a link an address besides its main one. */
export const hasBy = (by: string, { tokens }: Pick<Link, 'tokens'>, address: number): boolean =>
  importOfToken(tokens.held[slotOf(address)]) === by

/** Returns how many addresses besides its main one a link has by an import. */
export const addressesBy = (by: string, { tokens: { held } }: Pick<Link, 'tokens'>): number =>
  Object.entries(held).filter(([slot, token]) => slot !== 'alias' && importOfToken(token) === by).length

/** Whether a claim is of the import that has made the link, and has given it the main address that it has now. */
export const isOfItsImport = (token: string, { tokens: { held } }: Pick<Link, 'tokens'>): boolean => {
  const by = importOfToken(token)
  return by !== undefined && by === importOfToken(held.alias)
}
