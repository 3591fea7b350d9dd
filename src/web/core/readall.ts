import { get } from './api.ts'
import type { List } from './answers.ts'
import { type Cell, csvOf, saveFile } from './csv.ts'
import { t } from './alltexts.ts'
import { counted, figure, fill } from './texts.ts'
import { say, sayProblem } from './toasts.ts'

/** Reads a whole list, page by page: each row comes once, while others come and go. */
const readAll = async <N extends string, R>(path: string, name: N, query: URLSearchParams): Promise<readonly R[]> => {
  const rows: R[] = []
  const wanted = new URLSearchParams(query)
  wanted.delete('page')
  wanted.set('limit', '1000')
  wanted.set('cursor', '')
  for (;;) {
    const { data } = await get<List<N, R>>(`${path}?${wanted.toString()}`)
    const page: readonly R[] = data[name]
    rows.push(...page)
    if (data.next_cursor === undefined) return rows
    wanted.set('cursor', data.next_cursor)
    say(fill(t().resources.saving, { n: figure(rows.length), of: figure(data.result) }))
  }
}

interface SavedList<N extends string, R> {
  readonly path: string
  /** of the collection in the answer */
  readonly name: N
  readonly query: URLSearchParams
  readonly file: string
  readonly columns: readonly string[]
  readonly cells: (row: R) => readonly Cell[]
}

/** Offers all that matches as a file for a spreadsheet. */
export const saveList = async <N extends string, R>(list: SavedList<N, R>): Promise<void> => {
  const { path, name, query, file, columns, cells } = list
  try {
    const rows = await readAll<N, R>(path, name, query)
    saveFile(file, csvOf(columns, rows.map(cells)))
    say(fill(counted(t().resources.saved, rows.length), { file }))
  } catch (error) {
    sayProblem(error)
  }
}
