import { Readable } from 'node:stream'
import { z } from 'zod'
import { importing } from '../../commands/links/importing.ts'
import { refuse } from '../../commands/decider.ts'
import { fieldNames } from '../../imports/fields.ts'
import { formats } from '../../imports/records.ts'
import { conflictWays } from '../../imports/importing.ts'
import { firstProblem, must, says, text, timestamp, verbatim } from '../../lib/fields.ts'
import { isZone } from '../../lib/zone.ts'
import { listImports } from '../../queries/imports/import.ts'
import { Failure } from '../api/errors.ts'
import { list, listQuery } from '../api/list/list.ts'
import { truthText } from '../api/fields.ts'
import { firstValues } from '../api/past/zone.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { beginImport, endWork, stillRunning } from './begin.ts'
import { importContract, imports } from './contract.ts'
import { fileOf, Received, receiving } from './file.ts'
import { found, present, report } from './shown.ts'
import type { ImportServices, Stored } from './job.ts'
import { workOn } from './work.ts'

/** Pairs such as `bit.ly=go.example.com,x.example=y.example`; with `host_pairs`, one host alone has the name ''. */
const pairs = (what: 'pairs' | 'host_pairs') =>
  verbatim(4096)
    .optional()
    .transform((given, context) => {
      const all = (given ?? '').split(',').filter((one) => one.trim() !== '')
      const found = all.filter((one) => one.includes('=')).map((pair) => pair.split('=').map((part) => part.trim()))
      const alone = all.filter((one) => !one.includes('=')).map((host) => ['', host.trim()])
      const arePairs = found.every((pair) => pair.length === 2 && pair.every((part) => part !== ''))
      if (arePairs && alone.length <= (what === 'pairs' ? 0 : 1))
        return Object.fromEntries([...found, ...alone]) as Readonly<Record<string, string>>
      context.addIssue(says('wrong_form', { what }))
      return z.NEVER
    })

const allFormats = ['auto', ...formats] as const
const ImportQuery = z.object({
  format: z.enum(allFormats, must('not_one_of', { values: allFormats.join(', ') })).default('auto'),
  dryRun: truthText,
  conflict: z.enum(conflictWays, must('not_one_of', { values: conflictWays.join(', ') })).default('skip'),
  timezone: z
    .string()
    .refine(isZone, says('wrong_form', { what: 'zone' }))
    .default('UTC'),
  domain: pairs('host_pairs'),
  columns: pairs('pairs').refine(
    (given) => Object.keys(given).every((name) => (fieldNames as readonly string[]).includes(name)),
    says('not_one_of', { values: fieldNames.join(', ') }),
  ),
  name: text(255).default(''),
})
const byId = z.object({ id: z.string() })

const add = async (
  call: Call<unknown, z.output<typeof ImportQuery>, Received>,
  services: ImportServices,
): Promise<{ readonly id: string; readonly message: string }> => {
  const { dryRun, format, conflict, timezone, domain: domains, columns, name } = call.query
  const options = { conflict, timezone, domains, columns }
  const id = await beginImport(call, services, { work: dryRun ? 'check' : 'import', format, name, options })
  return { id, message: dryRun ? 'The file is being checked.' : 'The file is being imported.' }
}

/** Begins work on a file that is there already; `start` is awaited before it does anything. */
const resume = async (
  call: Pick<Call, 'account' | 'later'>,
  services: ImportServices,
  before: Pick<Stored, 'id' | 'account' | 'work'>,
  next: Pick<Stored, 'work' | 'options'>,
  start: () => Promise<unknown> = async () => {},
) => {
  const { files } = services.imports
  if (!(await files.resume(before, next))) return stillRunning()
  const begin = async () => {
    const found = await files.find(call.account, before.id)
    if (!found) return refuse('not_found', { what: 'import' })
    await start()
    return found
  }
  const stored = await begin().catch(async (error: unknown) => {
    await endWork(services, before.id, error)
    throw error
  })
  workOn({ call: call.later(), services, stored })
}

const start = async (call: Call<z.output<typeof byId>>, services: ImportServices) => {
  const { account, write } = call
  const { stored, listed } = await found(call, services)
  if (stored?.running) return stillRunning()
  const isThere = stored?.work === 'undo' || (stored && (await fileOf(services.imports, stored.id).isThere()))
  if (!stored || !isThere) return refuse('stale', { what: 'import_file' })
  const { id, options } = stored
  const work = stored.work === 'undo' ? 'undo' : 'import'
  const begin = async () => listed ?? write(importing, { type: 'Start', id, account })
  await resume(call, services, stored, { work, options }, begin)
  return { id, message: work === 'undo' ? 'The import is being taken back.' : 'The file is being imported.' }
}

const takeBack = async (call: Call<z.output<typeof byId>, { readonly force: boolean }>, services: ImportServices) => {
  const { account, params, query } = call
  const { files, ...folder } = services.imports
  const { stored, listed } = await found(call, services)
  if (stored?.running) return stillRunning()
  if (!listed) {
    if (!(await files.forget(account, params.id))) return stillRunning()
    await fileOf(folder, params.id).remove()
    return { message: 'The file has been deleted: nothing of it was imported.' }
  }
  const none = { conflict: 'skip', timezone: 'UTC', domains: {}, columns: {} } as const
  const { id, format } = listed
  const options = { ...(stored?.options ?? none), force: query.force }
  // the tables of another time, or of another service, may not have it
  if (!stored) await files.enter({ id, account, work: 'undo', format, name: '', size: 0, options })
  await resume(call, services, { id, account, work: stored?.work ?? 'undo' }, { work: 'undo', options })
  return { message: 'The import is being taken back.' }
}

/** Imports from other services, in the background. */
export const importRoutes = (services: ImportServices, receive = receiving(services.imports)): readonly Route[] => [
  endpoint(importContract, 'POST /api/import', {
    scope: 'links:write',
    query: ImportQuery,
    read: async (ctx, _, account) => {
      // before the file is sent in vain
      const query = ImportQuery.safeParse(firstValues(ctx.query))
      if (!query.success) throw new Failure(400, firstProblem(query.error))
      return receive(ctx, account)
    },
    release: (received) => (received as Received).remove(),
    body: z.instanceof(Received),
    run: (call) => add(call, services),
  }),

  endpoint(importContract, 'GET /api/imports', {
    scope: 'read',
    query: listQuery(imports),
    run: (call) =>
      list(
        imports,
        call,
        (request) => listImports(call.reader, call.account, request),
        ({ id, format, started, finished, undone, links, member }) => ({
          ...{ id, format, date: timestamp(started), finished: finished ? timestamp(finished) : '' },
          ...{ undone: undone ? timestamp(undone) : '', links, member },
        }),
      ),
  }),

  endpoint(importContract, 'GET /api/import/:id', {
    scope: 'read',
    nowOnly: 'imports',
    params: byId,
    run: (call) => present(call, services),
  }),

  endpoint(importContract, 'GET /api/import/:id/report', {
    scope: 'read',
    nowOnly: 'imports',
    params: byId,
    run: async (call) => {
      await found(call, services)
      const content = Readable.from(report(services.imports.files, call.params.id))
      return { download: { name: `import-${call.params.id}.csv`, type: 'text/csv', content } }
    },
  }),

  endpoint(importContract, 'POST /api/import/:id/start', {
    scope: 'links:write',
    params: byId,
    run: (call) => start(call, services),
  }),

  endpoint(importContract, 'DELETE /api/import/:id/delete', {
    scope: 'links:write',
    params: byId,
    query: z.object({ force: truthText }),
    run: (call) => takeBack(call, services),
  }),
]
