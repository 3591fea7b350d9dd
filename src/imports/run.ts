import { setImmediate as nextTurn } from 'node:timers/promises'
import { turnTimer } from '../lib/async/pause.ts'
import { sortedBy } from '../lib/async/sorted.ts'
import { sentenceOf } from '../lib/problems/problem.ts'
import { createAgain, createAll, inBatches, type Made } from './create.ts'
import { type ConflictFound, type Importing, isBrought, isCreated, type Reported } from './importing.ts'
import type { SourceLink, SourceRecord } from './records.ts'
import { openReport, type Report } from './report.ts'
import { hasEnded, type Row, rowsOf } from './row.ts'
import { survey } from './survey.ts'
import { type BroughtLink, importVisits } from './visits.ts'

/** links, and characters of their JSON, sorted by their dates together: most exports have the newest first */
const [sortedAtOnce, charactersAtOnce] = [200_000, 64 * 1024 * 1024]

const charactersIn = (link: SourceLink) => JSON.stringify(link).length

/** The state of a running import. */
interface Run {
  readonly importing: Importing
  readonly report: Report
  readonly visitsOf: ReadonlyMap<string, number>
  /** the links that have come, by the names of their addresses in the source */
  readonly brought: Map<string, BroughtLink>
  /** those addresses, also of a dry run, where the links have no ids */
  readonly came: Set<string>
  /** the links that have them, also those that were there before */
  readonly found: Map<string, number>
  /** those with which the import has to end */
  readonly conflicts: ConflictFound[]
}

const keep = ({ brought, came }: Run, { address, url }: Row, id: number | undefined) => {
  if (address === undefined) return
  came.add(address)
  if (id !== undefined) brought.set(address, { id, url })
}

/** Passes over rows that have lines already. Returns the others. */
const skipReported = async (rows: readonly Row[], run: Run) => {
  const { importing, report } = run
  const left = Math.min(report.left(), rows.length)
  const links = left > 0 ? await importing.linksOf(report.next(), left) : []
  for (const [n, id] of links.entries()) if (id !== undefined) keep(run, rows[n]!, id)
  report.skip(left)
  return rows.slice(left)
}

/** Whether a row is a further address of a link that has come. Of others, it becomes a link of its own. */
const isFurther = ({ main }: Row, { came }: Run) => main !== undefined && came.has(main)
const withLink = (row: Row, run: Run): Row => {
  const { main } = row
  if (main === undefined) return row
  const of = run.found.get(main)
  const isOne = isFurther(row, run)
  return { ...row, of, link: isOne ? run.brought.get(main)?.id : undefined, notes: [noteOf(row, isOne, of)] }
}
/** Returns what the report says of a further address. `of`: the link that has the main one. */
const noteOf = ({ mainAlias = '' }: Row, isOne: boolean, of: number | undefined) => {
  if (isOne) return `A further address of ${mainAlias}.`
  return `It is a link of its own: ${mainAlias} ${of === undefined ? 'could not be imported' : 'was there before'}.`
}

/** Returns what has become of a row that was tried. */
const lineOf = async (row: Row, result: Made, run: Run): Promise<Reported> => {
  const { place, alias, url, notes, left } = row
  const onEnd = (found: ConflictFound) => void run.conflicts.push(found)
  const outcome = result.before ? 'kept' : 'created'
  const made = { place, alias, url, left, message: notes.join(' '), link: result.id, outcome } as const
  const line = result.error === 1 ? await createAgain(row, result, run.importing, run.report, onEnd) : made
  if (!isCreated(line.outcome) || !isFurther(row, run)) return line
  const isAgain = row.address !== undefined && run.came.has(row.address)
  return { ...line, outcome: result.had || isAgain ? 'kept' : 'added' }
}

/** Returns the line of an address that its link has already, by another row. */
const sameLine = (row: Row, run: Run): Reported => {
  const { place, alias, url, main = '' } = row
  const link = run.found.get(main)
  if (run.came.has(main)) keep(run, row, run.brought.get(main)?.id)
  const outcome = link === undefined && !run.came.has(main) ? 'conflict' : 'kept'
  return { place, alias, url, message: 'The same address here as another one of its link.', link, outcome }
}

const importLinks = async (links: readonly SourceLink[], run: Run) => {
  const { importing, report, visitsOf } = run
  const { began, domains, source } = importing
  const isLong = turnTimer()
  const [ended, rows]: [SourceLink[], Row[]] = [[], []]
  for (const link of await sortedBy(links, ({ created }) => created ?? '9999')) {
    if (hasEnded(link, began)) ended.push(link)
    else rows.push(...rowsOf(link, { source, domains, visitsOf }))
    if (isLong()) await nextTurn()
  }
  await importing.onTotal(report.next() + ended.length + rows.length)
  for (const { addresses, place, url, banned } of ended) {
    const message = banned ? 'It is banned there.' : 'It has ended there.'
    await report.add({ place, alias: addresses[0]?.alias, url, outcome: 'skipped', message })
  }
  await report.store()
  for (const some of inBatches(await skipReported(rows, run), importing.onConflict)) {
    const lines = new Map<Row, Reported>()
    const bring = async (part: readonly Row[]) => {
      const tried = part.map((row) => withLink(row, run))
      for (const [n, result] of (await createAll(tried, importing, report)).entries()) {
        const line = await lineOf(tried[n]!, result, run)
        if (isBrought(line.outcome)) keep(run, part[n]!, line.link)
        report.about(line.link)
        if (line.link !== undefined && line.outcome !== 'conflict') run.found.set(part[n]!.address ?? '', line.link)
        lines.set(part[n]!, line)
      }
    }
    await bring(some.filter(({ main }) => main === undefined))
    // once it is known which links they are addresses of
    await bring(some.filter(({ main, same = false }) => main !== undefined && !same))
    for (const row of some) await report.add(lines.get(row) ?? sameLine(row, run))
    await report.store()
    const [conflict] = run.conflicts
    if (conflict) throw conflict
  }
}

/** Imports all records except visits. */
const importAll = async (run: Run) => {
  const { importing, report } = run
  let links: SourceLink[] = []
  let characters = 0
  for await (const record of importing.open())
    switch (record.kind) {
      case 'link':
        links.push(record)
        characters += charactersIn(record)
        if (links.length < sortedAtOnce && characters < charactersAtOnce) break
        await importLinks(links, run)
        ;[links, characters] = [[], 0]
        break
      case 'visit':
        break
      case 'problem':
        await report.add({ place: record.place, outcome: 'failed', message: sentenceOf(record.problem) })
        break
      case 'notice':
        await report.add({ place: { line: 1 }, outcome: 'noted', message: noticeOf(record) })
    }
  await importLinks(links, run)
}

/**
 * Creates the links of a source, oldest first, and records their visits. Nothing is created of a source that cannot be
 * read to its end. What has no counterpart is reported, and so is each link that is not created. Broken off, it goes on
 * behind the lines that are stored, with the same source. Throws `ConflictFound` and `UnreadableSource`.
 */
export const importRecords = async (importing: Importing): Promise<void> => {
  const { open, recordVisits } = importing
  const { visits, visitsOf } = await survey(open())
  const report = openReport(importing)
  const brought = new Map<string, BroughtLink>()
  await importAll({
    importing,
    report,
    visitsOf: recordVisits ? visitsOf : new Map(),
    brought,
    came: new Set(),
    found: new Map(),
    conflicts: [],
  })
  if (visits > 0)
    if (recordVisits) await importVisits(open(), brought, recordVisits, report)
    else await report.add({ place: { line: 1 }, outcome: 'noted', message: `It has ${visits} single visits.` })
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
    case 'unlisted':
      return `The service has ${params['links']} links, and its API has listed ${params['listed']} of them: import it again, or a dump or an export of it.`
    case 'more':
      return `There are ${params['notices']} more notices like these.`
    case 'unread':
      return String(params['message'])
  }
}
