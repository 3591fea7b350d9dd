import { filtered, inOrder, isFiltered, type Listed, type ListRequest, readPositions } from './page.ts'
import { kinds, type OwnedKind } from '../events/kinds.ts'
import { inPart, type Part } from './accounts/part.ts'
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

interface OwnedList {
  readonly kind: OwnedKind
  /** SQL of the text that `q` searches, in columns of `x`; the name if not given */
  readonly searched?: string
}

/**
 * Returns one page of an account's resources that are not deleted. `rows` reads those with some ids, without an order;
 * if not given, with all columns.
 */
export const listOwned = async <R extends OwnedRow>(
  reader: Reader,
  { kind, searched = 'x.name' }: OwnedList,
  account: number,
  request: ListRequest,
  rows?: (ids: readonly number[]) => PromiseLike<readonly unknown[]>,
): Promise<Listed<R>> => {
  const { db, table } = reader
  const { table: name } = kinds[kind]
  const isIn = (part: Part) => inPart(reader, kind, 'x.id', part)
  const own = () => db({ x: table(name) }).where({ 'x.account': account, 'x.deleted': null })
  const source = {
    matching: () => filtered(db, own(), request, { searched, created: 'x.created', isIn }),
    position: ['x.id'],
    kept: isFiltered(request) ? undefined : () => keptCount(reader, name, account),
  }
  const found = await readPositions(source, reader, request)
  const ids = found.rows.map(([id]) => Number(id))
  const read = (await (rows?.(ids) ?? own().whereIn('x.id', ids).select('x.*'))) as R[]
  return inOrder(found, read.map(typed), ({ id }) => id)
}

const keptCount = ({ db, table }: Reader, name: string, account: number) =>
  db(table(`${name}_counts`))
    .where({ account })
    .select('n')

/** Returns the number of an account's resources that are not deleted. */
export const countOwned = async (reader: Reader, name: string, account: number) => {
  const [counted] = (await keptCount(reader, name, account)) as { n: string }[]
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
