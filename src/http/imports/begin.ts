import { v4 as uuid } from 'uuid'
import { importing } from '../../commands/links/importing.ts'
import { findImport, type ImportWork } from '../../queries/imports/import.ts'
import { fail, failureOf } from '../api/errors.ts'
import type { Call } from '../api/route.ts'
import { fileOf, type Received } from './file.ts'
import { type ImportOptions, type ImportServices, patiently, type Stored } from './job.ts'
import { workOn } from './work.ts'

export const stillRunning = () => fail(409, 'still_running', { what: 'import' }, { 'Retry-After': '10' })

/** Removes the files of dry runs that were never imported. */
const forgetChecked = async ({ files, ...folder }: ImportServices['imports'], account: number) => {
  for (const id of await files.waiting(account)) if (await files.forget(account, id)) await fileOf(folder, id).remove()
}

/** Does what an outage of the database must not prevent: otherwise, an import would be running until a restart. */
const inTheEnd = async ({ imports: { work } }: ImportServices, last: () => Promise<unknown>) => {
  const later = async (signal: AbortSignal) => {
    const done = patiently(signal)(last)
    await done.catch((error: unknown) => {
      // no process is at work on it then
      if (!signal.aborted) throw error
    })
  }
  await last().catch(() => work(later))
}

/** Ends an import that could not begin. Its row is there until the database can be reached. */
const withdraw = async (services: ImportServices, id: string) => {
  const { files, ...folder } = services.imports
  await fileOf(folder, id).remove()
  await inTheEnd(services, () => files.drop(id))
}

/** Ends work on a file whose beginning could not be stored. The file can be worked on again. */
export const endWork = (services: ImportServices, id: string, error: unknown): Promise<void> =>
  inTheEnd(services, () => services.imports.files.end(id, failureOf(error).problem))

/**
 * Fails when the client has had an answer, or is gone, and could not ask again for this import: it has sent no
 * Idempotency-Key, and would send the file once more.
 */
const requireWaiting = (call: Pick<Call, 'gone'>, canAskAgain: boolean) => {
  if (!canAskAgain && call.gone().aborted) fail(503, 'unavailable', { what: 'database' })
}

/**
 * Whether an earlier execution of the request has begun the import, and ended without an answer. What it has begun, but
 * not stored, is begun again.
 */
const hasBegun = async ({ account, reader }: Call, services: ImportServices, id: string, work: ImportWork) => {
  const { files } = services.imports
  const before = await files.find(account, id)
  if (!before) return false
  if (work === 'check' || (await findImport(reader, account, id))) return true
  if (before.running) return stillRunning()
  await files.drop(id)
  return false
}

/** Begins to import a file, or to check it, in the background. Returns the id of the import. */
export const beginImport = async (
  call: Call<unknown, unknown, Received>,
  services: ImportServices,
  {
    work,
    ...given
  }: Readonly<{ work: Exclude<ImportWork, 'undo'>; format: string; name: string; options: ImportOptions }>,
): Promise<string> => {
  const { account, body: received, write } = call
  const { files, ...folder } = services.imports
  const seed = await call.seed()
  const id = seed ? uuid({ random: seed }) : uuid()
  if (seed && (await hasBegun(call, services, id, work))) return id
  await forgetChecked(services.imports, account)
  await fileOf(folder, id).keep(received)
  const enter = async (): Promise<Stored> => {
    requireWaiting(call, seed !== undefined)
    const isEntered = await files.begin({ id, account, work, size: received.size, ...given })
    const stored = isEntered ? await files.find(account, id) : undefined
    if (!stored) return stillRunning()
    requireWaiting(call, seed !== undefined)
    if (work === 'import') await write(importing, { type: 'Start', id, account })
    requireWaiting(call, seed !== undefined)
    return stored
  }
  const stored = await enter().catch(async (error: unknown) => {
    await withdraw(services, id)
    throw error
  })
  workOn({ call: call.later(), services, stored })
  return id
}
