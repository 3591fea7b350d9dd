import { setImmediate as nextTurn } from 'node:timers/promises'
import { addressKey, foldedAddress, hasExactAlias, linkAddress } from '../../projections/links/link.ts'
import { everyAddress } from '../links/addresses.ts'
import type { Reader } from '../reader.ts'

/** An address of an account, where something is asked for. */
interface Asked {
  /** null: the service's own host */
  readonly domain: number | null
  /** whether letter case counts there */
  readonly exact: boolean
  readonly path: string
}
/** A link of the account. */
export interface Near {
  readonly id: number
  readonly alias: string
}

/** characters that aliases consist of, without letter case */
const alphabet = Array.from('abcdefghijklmnopqrstuvwxyz0123456789-_')
/** Characters of an alias, and addresses of an answer: others get no slips. An alias has about 80 for a character. */
const [longest, mostSlipped] = [20, 25]

/** Returns what an alias becomes by one slip: a letter too many, two swapped, one left out, one for another. */
export const slips = (alias: string): readonly string[] => {
  const cuts = Array.from({ length: alias.length + 1 }, (_, i) => [alias.slice(0, i), alias.slice(i)] as const)
  const found = [
    ...cuts.map(([before, after]) => before + after.slice(1)),
    ...cuts.map(([before, after]) => before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2)),
    ...cuts.flatMap(([before, after]) => alphabet.map((letter) => before + letter + after)),
    ...cuts.flatMap(([before, after]) => (after ? alphabet.map((letter) => before + letter + after.slice(1)) : [])),
  ]
  return [...new Set(found)].filter((one) => one !== alias && one !== '')
}

/** Returns the alias that a path begins with; an empty text when it begins with none. */
const aliasIn = (path: string) => /^\/([a-z0-9_-]{1,64})(?![a-z0-9_-])/.exec(path)?.[1] ?? ''

/** Returns the aliases that each path may mean, the likely ones first: its beginning, and what has one slip. */
const meantBy = async (asked: readonly Asked[]): Promise<readonly (readonly string[])[]> => {
  const meant: string[][] = []
  for (const [i, { domain, exact, path }] of asked.entries()) {
    const alias = exact ? '' : aliasIn(path)
    const near = i < mostSlipped && alias !== '' && alias.length <= longest ? slips(alias) : []
    meant.push((alias === '' ? [] : [alias, ...near]).map((one) => addressKey(domain, one)))
    // other requests are answered between two addresses
    if (near.length > 0) await nextTurn()
  }
  return meant
}

/** Returns the key of the link at an address. On a domain with exact aliases, a path is one as a whole. */
const keyAt = ({ domain, exact, path }: Asked) => addressKey(domain, exact ? path : path.replace(/^\//, ''))

/** Returns, by its key, the link of the account that is near to an exact alias: it differs in letter case alone. */
const otherwiseWritten = async ({ db, table }: Reader, account: number, keys: readonly string[]) => {
  if (keys.length === 0) return new Map<string, Near>()
  const { rows } = await db.raw<{ rows: { key: string; id: string; alias: string }[] }>(
    `select k.key, found.id, found.alias from unnest(?::text[]) as k (key) cross join lateral (
       select link as id, alias from ${everyAddress(table)} every
       where ${foldedAddress} = lower(k.key) and ${hasExactAlias} and account = ? order by link limit 1) found`,
    [[...keys], account],
  )
  return new Map(rows.map(({ key, id, alias }) => [key, { id: Number(id), alias }]))
}

/**
 * Returns, for each address, the link of the account that has it by now, and the one that was probably meant. Other
 * accounts have no part in it: what they have is not told.
 */
export const nearLinks = async (
  reader: Reader,
  account: number,
  asked: readonly Asked[],
): Promise<readonly { readonly at: Near | undefined; readonly near: Near | undefined }[]> => {
  const { db, table } = reader
  const wanted = await meantBy(asked)
  const keys = [...new Set([...asked.map(keyAt), ...wanted.flat()])]
  if (keys.length === 0) return []
  const { rows } = await db.raw<{ rows: { id: string; alias: string; address: string }[] }>(
    `select link as id, alias, ${linkAddress} as address from ${everyAddress(table)} every
     where ${linkAddress} = any(?::text[]) and account = ?`,
    [keys, account],
  )
  const known = new Map(rows.map(({ id, alias, address }) => [address, { id: Number(id), alias }]))
  const isOpen = (one: Asked) => one.exact && !known.has(keyAt(one))
  const others = await otherwiseWritten(reader, account, asked.filter(isOpen).map(keyAt))
  return asked.map((one, i) => {
    const at = one.path.startsWith('/') ? known.get(keyAt(one)) : undefined
    const near = at
      ? undefined
      : (wanted[i]?.flatMap((address) => known.get(address) ?? [])[0] ?? others.get(keyAt(one)))
    return { at, near }
  })
}
