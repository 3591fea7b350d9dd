import { setTimeout as sleep } from 'node:timers/promises'
import { importing } from '../../commands/links/importing.ts'
import { aliasKey, exactAlias } from '../../lib/short/alias.ts'
import { readFile } from '../../imports/formats/read.ts'
import { ConflictFound, type Importing, isBrought, type Result, TryAgain } from '../../imports/importing.ts'
import { type Format, UnreadableSource } from '../../imports/records.ts'
import type { Row } from '../../imports/row.ts'
import { importRecords } from '../../imports/run.ts'
import { problem, type Problem } from '../../lib/problems/problem.ts'
import { safeDestination } from '../../lib/schemes.ts'
import { readBytes } from '../../lib/streamfile.ts'
import { importedTo, linkAt } from '../../queries/imports/import.ts'
import { awaitStatistics } from '../../queries/statistics/reclassifications.ts'
import { requireAdmitted } from '../api/admit.ts'
import { failureOf } from '../api/errors.ts'
import type { Done } from '../links/bulk/operations.ts'
import { doBulk } from '../links/bulk/request.ts'
import { fileOf } from './file.ts'
import { type Job, patiently } from './job.ts'
import { addLeftLines } from './left.ts'
import { takeBackLinks } from './undo.ts'

/** Returns what has become of a row. One that waits for a second person is not imported. */
const withoutProposal = (row: Done): Result =>
  row.error === 0 && row.proposal !== undefined
    ? { error: 1, message: `It waits for the approval of a second person, as proposal ${row.proposal}.` }
    : row

/** Does rows of one kind: links, or further addresses of links. */
const doing =
  ({ call, services, stored, signal }: Job, op: 'create' | 'address') =>
  async (rows: readonly Row[]) => {
    signal.throwIfAborted()
    if (rows.length === 0) return []
    const numbered = rows.map(({ body, link }, i) => ({
      number: i + 1,
      value: op === 'create' ? body : { id: link, custom: body['custom'], domain: body['domain'] },
    }))
    const dryRun = stored.work === 'check'
    await requireAdmitted(call)
    try {
      const done = await doBulk(call, services, { op, rows: numbered, dryRun, signal, origin: stored.id })
      if (done.some((row) => row.error === 1 && row.status === 401)) throw new TryAgain('the caller is not admitted')
      // who has a name that is taken is looked up in the tables
      if (done.some(({ error }) => error === 1)) await services.imports.caughtUp()
      return done.map(withoutProposal)
    } catch (error) {
      if (error instanceof TryAgain || failureOf(error).status !== 503) throw error
      throw new TryAgain('some rows may not be stored', { cause: error })
    }
  }

const creating =
  (job: Job): Importing['create'] =>
  async (rows) => {
    const isLink = ({ link }: Row) => link === undefined
    const done = {
      links: (await doing(job, 'create')(rows.filter(isLink))).values(),
      addresses: (await doing(job, 'address')(rows.filter((row) => !isLink(row)))).values(),
    }
    return rows.map((row) => done[isLink(row) ? 'links' : 'addresses'].next().value!)
  }

/** Returns a destination as links have it. */
const storedAs = (url: string) => {
  const safe = safeDestination(url)
  return safe.ok ? safe.url : url
}

/** Returns the link at the address of a row. `url` is as the row has it, if that means the same. */
const finding =
  ({ call, services, stored }: Job): Importing['find'] =>
  async ({ body, url }) => {
    const { custom = '', domain = '' } = body as Readonly<Record<string, string>>
    const own = domain === '' ? undefined : services.domains.own(call.account, domain)
    if (domain !== '' && !own) return undefined
    const address = { domain: own?.id ?? null, aliasKey: (own?.exact && exactAlias(custom)) || aliasKey(custom) }
    const found = await linkAt(call.reader, call.account, address)
    if (!found) return undefined
    const isOwn = found.import === stored.id && (await services.imports.files.withoutLine(stored.id, [found.id]))[0]
    return { id: found.id, url: found.url === storedAs(url) ? url : found.url, own: Boolean(isOwn) }
  }

/** ms that an import waits for the statistics at most: they may be halted */
const mostWait = 60_000
/** Waits for the statistics: the clicks of all accounts come behind what an import has recorded. */
const pacing =
  ({ call, signal }: Job) =>
  async (position: bigint) => {
    const end = performance.now() + mostWait
    while (performance.now() < end && !(await awaitStatistics(call.reader, position, performance.now() + 1000)))
      signal.throwIfAborted()
  }

/** Imports a file, and returns its format. */
const bringLinks = async (job: Job): Promise<string> => {
  const { call, services, stored, signal } = job
  const { caughtUp, files } = services.imports
  const { conflict, timezone, domains, columns } = stored.options
  const patient = patiently(signal)
  const done = await patient(() => files.cutAtGap(stored.id))
  const [find, pace] = [finding(job), pacing(job)]
  let source = stored.format
  const { path } = fileOf(services.imports, stored.id)
  const reading = { timezone, columns, onFormat: (format: Format) => (source = format) }
  await importRecords({
    open: () => readFile(stored.format as Format | 'auto', readBytes(path), reading),
    recordVisits:
      stored.work === 'check'
        ? undefined
        : async (visits, upTo) => {
            signal.throwIfAborted()
            await requireAdmitted(call)
            const of = { import: stored.id, account: call.account }
            const { refused } = await patient(() => services.imports.visits.recordVisits(of, visits, upTo, pace))
            return refused.map(({ why }) => why)
          },
    linksOf: (from, lines) =>
      patient(async () => {
        const found = await files.lines(stored.id, from, lines)
        return found.map(({ link, outcome }) => (isBrought(outcome) && link !== null ? link : undefined))
      }),
    create: creating(job),
    find: (row) => patient(() => find(row)),
    findImported: (urls) =>
      patient(async () => {
        await caughtUp()
        const sent = new Map(urls.map((url) => [storedAs(url), url]))
        const found = await importedTo(call.reader, call.account, [...sent.keys()])
        const ids = found.map(({ id }) => id)
        const open = new Set(await files.withoutLine(stored.id, ids))
        return found
          .filter(({ id }) => open.has(id))
          .map(({ id, url, import: by }) => ({ id, own: by === stored.id, url: sent.get(url) ?? url }))
      }),
    report: (from, lines) =>
      patient(() =>
        files.add(
          stored.id,
          from,
          lines.map(({ place, alias = '', url = '', left = [], link: id = null, ...line }) => {
            return { ...line, place: 'line' in place ? `line ${place.line}` : place.id, alias, url, left, link: id }
          }),
        ),
      ),
    done,
    onTotal: (total) => patient(() => files.learn(stored.id, { total, format: source })),
    wait: (seconds) => sleep(seconds * 1000, undefined, { signal }),
    began: stored.began.toISOString(),
    source: () => source,
    onConflict: conflict,
    domains: new Map(Object.entries(domains)),
  })
  return source
}

/** Why work has ended, where that can be said. */
const problemOf = (error: unknown): Problem | undefined => {
  if (error instanceof UnreadableSource || error instanceof ConflictFound) return error.problem
  const failure = failureOf(error)
  // no request is waiting that could send another key
  if (failure.status === 401) return problem('lacks_rights', { what: 'lost' })
  return failure.status === 500 ? undefined : failure.problem
}

/** Works on a file. If the process stops, the work continues when it is started again. */
export const workOn = (job: Omit<Job, 'signal'>): void => {
  const { call, services, stored } = job
  const { files, work } = services.imports
  const { account, id } = stored
  work(async (signal) => {
    // an outage must not leave it running for ever
    const patient = patiently(signal)
    try {
      const format = await (stored.work === 'undo' ? takeBackLinks : bringLinks)({ ...job, signal })
      if (stored.work === 'import' && format !== undefined) {
        const { created = 0, renamed = 0 } = await patient(() => files.counts(id))
        const links = created + renamed
        await patient(() => call.write(importing, { type: 'Finish', id, account, format, links }))
      }
      await patient(() => files.end(id))
      if (stored.work !== 'check') await fileOf(services.imports, id).remove()
    } catch (error) {
      if (signal.aborted) return
      const why = problemOf(error)
      try {
        if (stored.work === 'import') await addLeftLines({ ...job, signal })
      } finally {
        await patient(() => files.end(id, why ?? { code: 'internal_error', params: {} }))
      }
      const useless = error instanceof UnreadableSource ? [id] : await files.failedBefore(account, id)
      for (const one of useless) await fileOf(services.imports, one).remove()
      if (!why) throw error
    }
  })
}
