import { type Listed, offset, type Page } from './page.ts'
import type { Reader } from './reader.ts'

/** Columns that every resource of an account has. */
export interface OwnedRow {
  readonly id: number
  readonly created: Date
  /** of its stream */
  readonly revision: number
}

/** Numbers as numbers: the driver returns bigint columns as strings. */
export const typed = <R extends OwnedRow>(row: R): R => ({ ...row, id: Number(row.id), revision: Number(row.revision) })

/** Returns one page of an account's resources that are not deleted, newest first. */
export const listOwned = async <R extends OwnedRow>(
  { db, table }: Reader,
  name: string,
  account: number,
  page: Page,
): Promise<Listed<R>> => {
  const rows = (await db(table(name))
    .where({ account, deleted: null })
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(offset(page))) as R[]
  const total = await countOwned({ db, table }, name, account)
  return { total, rows: rows.map(typed) }
}

/** Returns the number of an account's resources that are not deleted. */
export const countOwned = async ({ db, table }: Reader, name: string, account: number) => {
  const [counted] = await db<{ account: number; n: string }>(table(`${name}_counts`))
    .where({ account })
    .select('n')
  return Number(counted?.n ?? 0)
}

export const findOwned = async <R extends OwnedRow>(
  { db, table }: Reader,
  name: string,
  account: number,
  id: number,
) => {
  const [row] = (await db(table(name)).where({ id, account, deleted: null })) as R[]
  return row && typed(row)
}
