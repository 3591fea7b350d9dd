import { hkdfSync, randomBytes } from 'node:crypto'
import QuickLRU from 'quick-lru'
import { type Keyring, seal, unseal } from './seal.ts'
import type { Database } from '../postgres/database.ts'

/** SECRET is not the one that the keys in `state` were wrapped with. */
export class WrongSecret extends Error {}

export interface Keys extends Keyring {
  /** 32 bytes for hashes and cookies of the whole service */
  readonly service: Buffer
  /** Destroys accounts' keys, and with them all that is sealed under them. */
  readonly destroy: (accounts: readonly number[]) => Promise<void>
  /** Forgets what it holds of these accounts' keys, because another process may have destroyed them. */
  readonly forget: (accounts: readonly number[]) => void
}

const name = (account: number) => `account-${account}`

/** The keys in `state.keys`, each wrapped under SECRET. Throws `WrongSecret` when SECRET does not open the keys that are there. */
export const openKeys = async (db: Database, secret: string): Promise<Keys> => {
  const wrapping = Buffer.from(hkdfSync('sha256', secret, '', 'linkledger key wrapping 1', 32))
  const cache = new QuickLRU<number, Buffer>({ maxSize: 10_000, maxAge: 60_000 })

  const read = async (names: readonly string[]) => {
    const rows = await db<{ name: string; wrapped: string }>('state.keys').whereIn('name', names)
    try {
      return new Map(rows.map((row) => [row.name, unseal(wrapping, row.name, row.wrapped)]))
    } catch (cause) {
      throw new WrongSecret(
        'SECRET does not open the keys of this database: give the SECRET it was started with first, or restore DATA_DIR/secret',
        { cause },
      )
    }
  }
  const make = async (keyName: string) => {
    const wrapped = seal(wrapping, keyName, randomBytes(32))
    await db('state.keys').insert({ name: keyName, wrapped }).onConflict('name').ignore()
    return (await read([keyName])).get(keyName)
  }
  const open = async (accounts: readonly number[]) => {
    const missing = accounts.filter((account) => !cache.has(account))
    const found = missing.length > 0 ? await read(missing.map(name)) : new Map<string, Buffer>()
    for (const account of missing) {
      const key = found.get(name(account))
      if (key) cache.set(account, key)
    }
    return new Map(
      accounts.flatMap((account) => {
        const key = cache.get(account)
        return key ? [[account, key] as const] : []
      }),
    )
  }

  const service = (await read(['service'])).get('service') ?? (await make('service'))
  if (!service) throw new Error('the service key could not be stored')

  return {
    service,
    forSealing: async (account) => {
      const known = (await open([account])).get(account)
      if (known) return known
      const made = await make(name(account))
      if (made) cache.set(account, made)
      return made
    },
    forOpening: open,
    destroy: async (accounts) => {
      if (accounts.length === 0) return
      await db('state.keys').whereIn('name', accounts.map(name)).delete()
      accounts.forEach((account) => cache.delete(account))
    },
    forget: (accounts) => accounts.forEach((account) => cache.delete(account)),
  }
}
