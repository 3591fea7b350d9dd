import { hkdfSync } from 'node:crypto'
import type { Database } from '../postgres/database.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { lockKeys } from '../postgres/keys.ts'
import { BrokenSeal, seal, unseal } from './seal.ts'

/** SECRET is not the one under which the keys in `state.keys` are wrapped. */
export class WrongSecret extends OperatorError {
  override readonly name = 'WrongSecret'
}

interface Row {
  readonly name: string
  readonly wrapped: string
}

/** The row with the new wrapping key, sealed under the old one, for processes that run while SECRET is rotated. */
const handover = 'handover'
/** keys that are written at once */
const pageSize = 1000

const wrappingKey = (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', 'linkledger key wrapping 1', 32))

/** Returns whether a wrapped key, which may not be in a database yet, is one of this SECRET. */
export const isWrappedUnder = (secret: string, { name, wrapped }: Row): boolean => {
  try {
    unseal(wrappingKey(secret), name, wrapped)
    return true
  } catch (error) {
    if (error instanceof BrokenSeal) return false
    throw error
  }
}

const keysIn = (db: Database) => db<Row>('state.keys')

/** Wraps keys under SECRET, and opens them. A process follows a rotation of SECRET that happens while it runs. */
export interface Wrapping {
  readonly read: (names: readonly string[], db?: Database) => Promise<Map<string, Buffer>>
  readonly wrap: (name: string, key: Buffer) => string
}

/** Throws `WrongSecret` unless SECRET opens the keys in the database. */
export const openWrapping = async (db: Database, secret: string): Promise<Wrapping> => {
  let key: Buffer = wrappingKey(secret)
  let isOpen = false

  const unwrapped = (rows: readonly Row[]) => new Map(rows.map((row) => [row.name, unseal(key, row.name, row.wrapped)]))
  const select = (on: Database, names: readonly string[]) => keysIn(on).whereIn('name', names)
  /** Returns whether SECRET was rotated since this process has begun to read with `used`. */
  const follow = async (on: Database, used: Buffer) => {
    const [row] = await select(on, [handover])
    // another read has followed the rotation meanwhile
    if (key !== used) return true
    try {
      if (row && isOpen) key = unseal(key, row.name, row.wrapped)
      return row !== undefined && isOpen
    } catch {
      return false
    }
  }
  const read: Wrapping['read'] = async (names, on = db) => {
    const used = key
    try {
      return unwrapped(await select(on, names))
    } catch (cause) {
      // an outage says nothing about SECRET
      if (!(cause instanceof BrokenSeal)) throw cause
      if (await follow(on, used)) return unwrapped(await select(on, names))
      throw new WrongSecret(
        'SECRET does not open the keys of this database: set the SECRET of its last start, or the new one if it was rotated since, or restore DATA_DIR/secret',
        { cause },
      )
    }
  }
  await read(['service'])
  isOpen = true
  return { read, wrap: (name, text) => seal(key, name, text) }
}

/**
 * Wraps all keys under another secret, in one transaction: killed at any point, all keys are under the old one or all
 * under the new one. `beforeCommit` stores the new secret. Returns the number of keys. Throws `WrongSecret` before
 * anything is changed.
 */
export const rewrapKeys = (
  db: Database,
  { from, to, beforeCommit }: { readonly from: string; readonly to: string; readonly beforeCommit: () => void },
): Promise<number> =>
  db.transaction(async (tx) => {
    // other processes create no key meanwhile, and a second rotation finds that its secret is an old one
    await lockKeys(tx)
    const { read } = await openWrapping(tx, from)
    // a process that has not followed the rotation before could not follow this one
    if ((await keysIn(tx).where({ name: handover })).length > 0)
      throw new OperatorError(
        'the rotation before is not finished: restart every process with the secret of now, then run `linkledger secret finish`',
      )
    const names = (await keysIn(tx).orderBy('name')).map(({ name }) => name)
    const key = wrappingKey(to)
    beforeCommit()
    for (let n = 0; n < names.length; n += pageSize) {
      const keys = [...(await read(names.slice(n, n + pageSize)))]
      await tx.raw(
        `update state.keys as k set wrapped = n.wrapped from unnest(?::text[], ?::text[]) as n (name, wrapped) where k.name = n.name`,
        [keys.map(([name]) => name), keys.map(([name, plain]) => seal(key, name, plain))],
      )
    }
    const passed = { name: handover, wrapped: seal(wrappingKey(from), handover, key) }
    await keysIn(tx).insert(passed)
    return names.length
  })

/**
 * Deletes what lets running processes follow the rotation; the old secret then opens nothing. Returns whether there was
 * any.
 */
export const endHandover = async (db: Database): Promise<boolean> =>
  (await keysIn(db).where({ name: handover }).delete()) > 0
