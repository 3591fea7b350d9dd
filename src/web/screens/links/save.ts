import type { LinkRow, Links } from '../../core/answers.ts'
import { get } from '../../core/api.ts'
import { csvOf, saveFile } from '../../core/csv.ts'
import { t } from '../../core/alltexts.ts'
import { counted, figure, fill } from '../../core/texts.ts'
import { say, sayProblem } from '../../core/toasts.ts'

const columns = ['shorturl', 'longurl', 'title', 'clicks', 'uniqueclicks', 'date', 'tags', 'archived'] as const

/** Reads all links that match, page by page: each comes once, while others come and go. */
const readAll = async (query: URLSearchParams): Promise<readonly LinkRow[]> => {
  const rows: LinkRow[] = []
  const wanted = new URLSearchParams(query)
  wanted.delete('page')
  wanted.set('limit', '1000')
  wanted.set('cursor', '')
  for (;;) {
    const { data } = await get<Links>(`/api/urls?${wanted.toString()}`)
    rows.push(...data.urls)
    if (data.next_cursor === undefined) return rows
    wanted.set('cursor', data.next_cursor)
    say(fill(t().links.saving, { n: figure(rows.length), of: figure(data.result) }))
  }
}

/** Offers all links that match as a file for a spreadsheet. */
export const saveLinks = async (query: URLSearchParams): Promise<void> => {
  try {
    const rows = await readAll(query)
    const cells = rows.map((row) => columns.map((name) => row[name]))
    saveFile('links.csv', csvOf(columns, cells))
    say(counted(t().links.saved, rows.length))
  } catch (error) {
    sayProblem(error)
  }
}
