import { createHash } from 'node:crypto'
import type { Database } from './database.ts'

/** An image as it is stored: sealed under the key of its account. `hash` is unique within the account. */
export interface StoredImage {
  readonly account: number
  readonly hash: string
  readonly sealed: Buffer
}

/** rows in one page; an image of this service has at most 263 KB */
const pageSize = 16

/**
 * Stores an image durably. One that exists already counts as used now, so that it is not deleted as unused. Returns
 * false, and stores nothing, once the account's key is destroyed.
 */
export const storeImage = async (db: Database, { account, hash, sealed }: StoredImage): Promise<boolean> => {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into state.images (account, hash, sealed)
     select :account, :hash, :sealed where exists (select 1 from state.keys where name = 'account-' || :account::bigint)
     on conflict (account, hash) do update set used_at = now()`,
    { account, hash, sealed },
  )
  return rowCount > 0
}

export const findImage = async (db: Database, account: number, hash: string): Promise<Buffer | undefined> => {
  const [row] = (await db('state.images').where({ account, hash }).select('sealed')) as Pick<StoredImage, 'sealed'>[]
  return row?.sealed
}

/** Returns all images, by account and hash, in pages of a few megabytes. */
export const readImages = async function* (db: Database): AsyncGenerator<readonly StoredImage[]> {
  let after: readonly [number, string] = [0, '']
  for (;;) {
    const { rows } = await db.raw<{ rows: (Omit<StoredImage, 'account'> & { account: string })[] }>(
      `select account, hash, sealed from state.images where (account, hash) > (?, ?) order by account, hash limit ${pageSize}`,
      after,
    )
    const images = rows.map((row) => ({ ...row, account: Number(row.account) }))
    const last = images.at(-1)
    if (!last) return
    yield images
    after = [last.account, last.hash]
  }
}

/** Stores images that `readImages` returned. Those that exist already are replaced. */
export const writeImages = async (db: Database, images: readonly StoredImage[]): Promise<void> => {
  if (images.length === 0) return
  const rows = images.map(({ account, hash, sealed }) => ({ account, hash, sealed }))
  await db('state.images').insert(rows).onConflict(['account', 'hash']).merge(['sealed'])
}

const digests = async (db: Database, images: readonly StoredImage[]) => {
  const { rows } = await db.raw<{ rows: { account: string; hash: string; digest: string }[] }>(
    `select account, hash, encode(sha256(sealed), 'hex') as digest from state.images
     where (account, hash) in (select * from unnest(?::bigint[], ?::text[]))`,
    [images.map(({ account }) => account), images.map(({ hash }) => hash)],
  )
  return new Set(rows.map(({ account, hash, digest }) => `${account}/${hash}/${digest}`))
}

/**
 * Copies all images to another database and verifies them. Run again, it copies only what is missing. Returns how many
 * there are.
 */
export const copyImages = async (from: Database, to: Database): Promise<number> => {
  let count = 0
  const missing = async (images: readonly StoredImage[]) => {
    const there = await digests(to, images)
    const digest = ({ sealed }: StoredImage) => createHash('sha256').update(sealed).digest('hex')
    return images.filter((image) => !there.has(`${image.account}/${image.hash}/${digest(image)}`))
  }
  for await (const images of readImages(from)) {
    await writeImages(to, await missing(images))
    const [different] = await missing(images)
    if (different) throw new Error(`image ${different.hash} of account ${different.account} was not copied correctly`)
    count += images.length
  }
  return count
}

/** Deletes all images of accounts: they are personal data. */
export const eraseImages = async (db: Database, accounts: readonly number[]): Promise<void> => {
  const some = 'select account, hash from state.images where account = any(?) limit 500'
  for (;;) {
    const { rowCount } = await db.raw<{ rowCount: number }>(
      `delete from state.images where (account, hash) in (${some})`,
      [[...accounts]],
    )
    if (rowCount === 0) return
  }
}
