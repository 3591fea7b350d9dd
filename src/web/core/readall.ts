import { get } from './api.ts'
import type { AnyPage, EntryOf, NameIn } from '../../http/api/contract.ts'
import { type Cell, csvOf, saveFile } from './csv.ts'
import { t } from './alltexts.ts'
import { counted, figure, fill } from './texts.ts'
import { say, sayProblem } from './toasts.ts'

/** Returns the entries of a list. The compiler does not follow a name that is not known yet. */
export const entriesOf = <L extends AnyPage>({ data }: AnyPage, name: NameIn<L>): readonly EntryOf<L>[] =>
  (data as unknown as { readonly [name in NameIn<L>]: readonly EntryOf<L>[] })[name]

/** Reads a whole list, page by page: each row comes once, while others come and go. */
const readAll = async <L extends AnyPage>({ path, name, query }: SavedList<L>): Promise<readonly EntryOf<L>[]> => {
  const rows: EntryOf<L>[] = []
  const wanted = new URLSearchParams(query)
  wanted.delete('page')
  wanted.set('limit', '1000')
  wanted.set('cursor', '')
  for (;;) {
    const list = await get<AnyPage>(`${path}?${wanted.toString()}`)
    rows.push(...entriesOf<L>(list, name))
    const { next_cursor: next, result } = list.data
    if (next === undefined) return rows
    wanted.set('cursor', next)
    say(fill(t().resources.saving, { n: figure(rows.length), of: figure(result) }))
  }
}

interface SavedList<L extends AnyPage> {
  readonly path: string
  /** of the collection in the answer */
  readonly name: NameIn<L>
  readonly query: URLSearchParams
  readonly file: string
  readonly columns: readonly string[]
  readonly cells: (row: EntryOf<L>) => readonly Cell[]
}

/** Offers all that matches as a file for a spreadsheet. */
export const saveList = async <L extends AnyPage>(list: SavedList<L>): Promise<void> => {
  const { file, columns, cells } = list
  try {
    const rows = await readAll(list)
    saveFile(file, csvOf(columns, rows.map(cells)))
    say(fill(counted(t().resources.saved, rows.length), { file }))
  } catch (error) {
    sayProblem(error)
  }
}
