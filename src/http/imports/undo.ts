import { importing } from '../../commands/links/importing.ts'
import { Refused } from '../../commands/decider.ts'
import { addressesBy } from '../../commands/links/brought.ts'
import { link } from '../../commands/links/link.ts'
import { countRevision } from '../../commands/load.ts'
import type { Link } from '../../commands/links/state.ts'
import { type ImportedLink, linksOfImport } from '../../queries/imports/import.ts'
import { awaitStatistics } from '../../queries/statistics/reclassifications.ts'
import { Proposed } from '../approvals/guard.ts'
import type { Writer } from '../api/route.ts'
import { deleteLink } from '../links/write.ts'
import { requireAdmitted } from '../api/admit.ts'
import { type Job, patiently } from './job.ts'

const linksAtOnce = 200
/** ms that statistics are waited for until the end of the service is looked for */
const pauseMs = 1000

/** Whether a change is left out: it needs a second person, or the link is not there any more. */
const isKept = (error: unknown) => error instanceof Proposed || error instanceof Refused

/** Returns how many events a link has that only its import has changed: its addresses, and each count and its end. */
const ownEvents = (by: string, state: Link) =>
  1 +
  addressesBy(by, state) +
  Object.values(state.imported ?? {}).reduce((n, { clicks, uniques }) => n + (clicks === 0 && !uniques ? 2 : 1), 0)

/** Takes back a link, unless something has happened to it since. Returns whether it is deleted. */
const takeBack = async (writer: Writer, by: string, { id, used }: ImportedLink, force: boolean) => {
  const { account } = writer
  const before = await writer.load(link, id)
  // by an attempt before
  if (before.state.status === 'deleted') return true
  const sources = Object.keys(before.state.imported ?? {})
  for (const source of sources)
    await writer.write(link, { type: 'ImportClicks', id, account, source, clicks: 0, uniques: null })
  if (force) {
    await deleteLink(writer, id)
    return true
  }
  if (used) return false
  const { state, revision: newest } = sources.length === 0 ? before : await writer.load(link, id)
  const revision = countRevision(newest)
  if (revision + 1 !== ownEvents(by, state)) return false
  // what is changed at this moment stays, too
  await deleteLink(writer.part(0, [revision]), id)
  return true
}

/** Takes back what an import has created, as far as nothing has happened to it since. */
export const takeBackLinks = async ({ call, services, stored, signal }: Job): Promise<void> => {
  const { caughtUp, visits } = services.imports
  const { force = false } = stored.options
  const patient = patiently(signal)
  const count = { links: 0, kept: 0 }
  await patient(() => visits.withdrawVisits(stored.id, call.actor))
  // a link that was visited stays, also where the statistics are behind
  const newest = await patient(visits.newest)
  while (!(await awaitStatistics(call.reader, newest, performance.now() + pauseMs))) signal.throwIfAborted()
  for (let after = 0; ;) {
    signal.throwIfAborted()
    await patient(caughtUp)
    const found = await patient(() => linksOfImport(call.reader, stored.id, { after, limit: linksAtOnce }))
    const last = found.at(-1)
    if (!last) break
    after = last.id
    await requireAdmitted(call)
    const one = (writer: Writer) => (of: ImportedLink, n: number) =>
      takeBack(writer.part(n), stored.id, of, force).catch((error: unknown) => {
        if (isKept(error)) return false
        throw error
      })
    const deleted = await patient(() => call.withoutWaiting((writer) => Promise.all(found.map(one(writer)))))
    for (const isDeleted of deleted) count[isDeleted ? 'links' : 'kept']++
  }
  await call.write(importing, { type: 'Undo', id: stored.id, account: call.account, ...count })
}
