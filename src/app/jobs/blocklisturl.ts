import { readFile, rename, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import type { GuardedDownload } from '../../lib/fetch.ts'
import { type ReadList, readBlockList } from '../../lib/readblocklist.ts'
import { phraseOf } from '../../lib/problems/problem.ts'
import { repeat } from './repeat.ts'

export interface BlockListUrl {
  readonly url: string
  /** further request headers for the server of the list, such as a key */
  readonly headers?: Readonly<Record<string, string>>
  /** where the list is kept across restarts */
  readonly file: string
  readonly download: GuardedDownload
  /** Called with each list that was read. */
  readonly onRead: (read: ReadList) => void
  /** Called with the moment at which the server last had the list that is in force. */
  readonly onFetched: (moment: Date) => void
  /** Called each time that the list cannot be fetched or kept: the last one stays. */
  readonly onProblem: (problem: string) => void
  /** ms between looks at whether the list is due */
  readonly every?: number
  /** ms after which a list is fetched again */
  readonly age?: number
}

/** The first line of the file, behind `# `: what the rest was fetched from, and when. */
const Stored = z.object({
  url: z.string(),
  fetched: z.number(),
  etag: z.string().optional(),
  modified: z.string().optional(),
})
type Stored = z.output<typeof Stored>

/** Returns the list that was fetched from the URL before, if it can be read. */
const readStored = async (file: string, url: string) => {
  try {
    const text = await readFile(file, 'utf8')
    const end = text.indexOf('\n')
    const stored = Stored.parse(JSON.parse(text.slice(2, end)))
    return stored.url === url ? { stored, body: text.slice(end + 1) } : undefined
  } catch {
    return undefined
  }
}

const store = async (file: string, stored: Stored, body: string) => {
  const next = `${file}.new`
  await writeFile(next, `# ${JSON.stringify(stored)}\n${body}`, { mode: 0o600 })
  await rename(next, file)
}

/** On some servers, the error page for a missing list has status 200. */
const isList = ({ list, unread }: ReadList) => list.size > 0 && unread <= list.size

/**
 * Loads the list that was fetched last, then fetches it whenever it is due, and keeps the last one while that fails.
 * Resolves when the stored list is in force. Returns a function that stops it.
 */
export const startBlockListUrl = async ({
  url,
  headers = {},
  file,
  download,
  onRead,
  onFetched,
  onProblem,
  every = 600_000,
  age = 6 * 3_600_000,
}: BlockListUrl) => {
  const before = await readStored(file, url)
  let stored = before?.stored
  if (before) {
    onRead(await readBlockList(before.body, 'others'))
    onFetched(new Date(before.stored.fetched))
  }

  const fetchList = async () => {
    const now = Date.now()
    if (stored && now - stored.fetched < age) return
    // without the list itself, an answer that it has not changed says nothing
    const kept = stored && (await readStored(file, url))
    const found = await download(url, kept?.stored ?? {}, headers)
    if (!found.ok) return onProblem(phraseOf(found.problem, 'BLOCKLIST_URL'))
    const { etag, modified } = found
    const next = { url, fetched: now, etag, modified }
    const body = found.body?.toString()
    if (body !== undefined) {
      const read = await readBlockList(body, 'others')
      if (!isList(read))
        return onProblem('BLOCKLIST_URL must be a list of hosts or addresses, one a line: most lines are none')
      onRead(read)
    }
    stored = next
    onFetched(new Date(now))
    await store(file, next, body ?? kept?.body ?? '')
  }
  const run = () => fetchList().catch((error: unknown) => onProblem(`BLOCKLIST_URL: ${(error as Error).message}`))
  const first = run()
  const stop = repeat(
    () => first.then(run),
    every,
    () => {},
  )
  return async () => {
    await first
    await stop()
  }
}
