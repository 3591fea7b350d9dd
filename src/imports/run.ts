import { sentenceOf } from '../lib/problems/problem.ts'
import { createAgain, createAll, inBatches } from './create.ts'
import type { Importing } from './importing.ts'
import type { SourceLink, SourceRecord } from './records.ts'
import { openReport, type Report } from './report.ts'
import { hasEnded, rowsOf } from './row.ts'

/** links, and characters of their texts, that are sorted by their dates together: most exports have the newest first */
const [sortedAtOnce, charactersAtOnce] = [200_000, 64 * 1024 * 1024]

const charactersIn = ({ url, title = '', description = '', tags = [], targets = [] }: SourceLink) =>
  [url, title, description, ...tags, ...targets.map((target) => target.url)].reduce((sum, text) => sum + text.length, 0)

const importLinks = async (links: readonly SourceLink[], importing: Importing, report: Report) => {
  const oldestFirst = links.toSorted((a, b) => (a.created ?? '9999').localeCompare(b.created ?? '9999'))
  const rows = oldestFirst.filter((link) => !hasEnded(link, importing.began)).flatMap((link) => rowsOf(link, importing))
  const ended = oldestFirst.filter((link) => hasEnded(link, importing.began))
  await importing.onTotal(report.next() + ended.length + rows.length)
  for (const { addresses, place, url } of ended)
    await report.add({ place, alias: addresses[0]?.alias, url, outcome: 'skipped', message: 'It has ended there.' })
  await report.store()
  const left = Math.min(report.left(), rows.length)
  report.skip(left)
  for (const some of inBatches(rows.slice(left))) {
    const results = await createAll(some, importing, report)
    for (const [n, row] of some.entries()) {
      const result = results[n]!
      const { place, alias, url, notes, left: fields } = row
      const outcome = result.before ? 'kept' : 'created'
      const line = { place, alias, url, left: fields, message: notes.join(' '), link: result.id, outcome } as const
      await report.add(result.error === 1 ? await createAgain(row, result, importing, report) : line)
    }
    await report.store()
  }
}

/**
 * Creates the links of a source, oldest first. What has no counterpart is reported, and so is each link that is not
 * created. Broken off, it goes on behind the lines that are stored, with the same source. Throws `ConflictFound`.
 */
export const importRecords = async (records: AsyncIterable<SourceRecord>, importing: Importing): Promise<void> => {
  const report = openReport(importing)
  let links: SourceLink[] = []
  let [visits, characters] = [0, 0]
  for await (const record of records)
    switch (record.kind) {
      case 'link':
        links.push(record)
        characters += charactersIn(record)
        if (links.length < sortedAtOnce && characters < charactersAtOnce) break
        await importLinks(links, importing, report)
        ;[links, characters] = [[], 0]
        break
      case 'visit':
        visits++
        break
      case 'problem':
        await report.add({ place: record.place, outcome: 'failed', message: sentenceOf(record.problem) })
        break
      case 'notice':
        await report.add({ place: { line: 1 }, outcome: 'noted', message: noticeOf(record) })
    }
  await importLinks(links, importing, report)
  if (visits > 0)
    await report.add({
      place: { line: 1 },
      outcome: 'noted',
      message: `${visits} single visits are not imported: their number is in the clicks of their links.`,
    })
  await report.store()
}

const noticeOf = ({ notice, params }: Extract<SourceRecord, { kind: 'notice' }>) => {
  switch (notice) {
    case 'unknown_column':
      return `The column "${params['column']}" is not known, and is left out.`
    case 'cut':
      return `The service ends its exports after ${params['records']} links: there may be more.`
    case 'no_zone':
      return `Times without a zone count as ${params['zone']}: another one can be named.`
    case 'left_out':
      return `"${params['folder']}" of the archive is not imported.`
    case 'unread':
      return String(params['message'])
  }
}
