import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { type Caller, requireOwn } from '../../commands/caller.ts'
import type { Decider } from '../../commands/decider.ts'
import type { NextIds } from '../../commands/handle.ts'
import type { Owned, OwnedCommand } from '../../commands/owned/owned.ts'
import type { DomainEvent } from '../../events/index.ts'
import type { Scope } from '../../events/accounts/scope.ts'
import { streamId } from '../../events/streams.ts'
import type { OwnedRow } from '../../queries/owned.ts'
import type { Listed, ListRequest } from '../../queries/page.ts'
import type { Reader } from '../../queries/reader.ts'
import { readCurrent } from './write/current.ts'
import { byId } from './fields.ts'
import { list, listQuery } from './list/list.ts'
import { listAt, type Contract } from './describe.ts'
import { type Reading, route } from './route.ts'

type OwnedDecider<F, E> = Decider<OwnedCommand<F>, Owned<F>, E>
/** Fields as a body contains them: any may be missing. */
type Sent<F> = { readonly [K in keyof F]?: F[K] | undefined }
type Find<Row> = (reader: Reader, account: number, id: number) => Promise<Row | undefined>

/** Returns the `owner` check of a route whose path contains the id of a resource. */
export const ownedBy =
  <C, S extends { readonly status: string; readonly account: number }, E extends DomainEvent>(
    decider: Decider<C, S, E>,
  ) =>
  (call: Pick<Caller, 'account' | 'load'> & { readonly params: { readonly id: number } }) =>
    requireOwn(call, decider, call.params.id)

/** The name and the columns of the list are those of its description in `contract`. */
export const listRoute = <R>(
  contract: Contract,
  path: string,
  rows: (reader: Reader, account: number, request: ListRequest) => Promise<Listed<R>>,
  present: (row: R) => object,
  scope: Scope = 'read',
) => {
  const described = listAt(contract, path)
  return route({
    method: 'get',
    path,
    scope,
    query: listQuery(described),
    run: (call) => list(described, call, (request) => rows(call.reader, call.account, request), present),
  })
}

/**
 * Returns a resource from the tables or, while its changes are not projected yet, from its stream. Throws `Refused`
 * (`not_found`).
 */
export const readOwned = async <Row, F extends object, E extends DomainEvent>(
  decider: OwnedDecider<F, E>,
  find: Find<Row>,
  reading: Reading,
  id: number,
): Promise<Row | (OwnedRow & F)> =>
  readCurrent<Row | (OwnedRow & F)>({
    pending: reading.pending.has(streamId(decider.kind, id)),
    inTables: () => find(reading.reader, reading.account, id),
    inStream: async () => {
      const { fields, created, revision } = await requireOwn(reading, decider, id)
      return { ...fields, id, created, revision }
    },
  })

export const detailsRoute = <F extends object, E extends DomainEvent>(
  path: string,
  decider: OwnedDecider<F, E>,
  find: Find<OwnedRow & F>,
  present: (row: OwnedRow & F) => object,
) =>
  route({
    method: 'get',
    path,
    scope: 'read',
    params: byId,
    single: true,
    run: async (call) => ({ details: present(await readOwned(decider, find, call, call.params.id)) }),
  })

/** Returns the addresses in a body that visitors are led to, by their fields. */
export type AddressesOf<F> = (body: Sent<F>) => Readonly<Record<string, readonly (string | undefined)[]>>

/** Fields missing from the body get the decider's initial values. `check` fails for a body that must not be stored. */
export const addRoute = <F extends object, E extends DomainEvent>(
  path: string,
  kind: keyof NextIds,
  decider: OwnedDecider<F, E>,
  body: z.ZodType<Sent<F>>,
  check: (body: Sent<F>) => void = () => {},
) =>
  route({
    method: 'post',
    path,
    scope: 'write',
    body,
    run: async ({ account, body, create }) => {
      check(body)
      const fields = { ...decider.initialState.fields, ...body } as F
      const { id, revision } = await create(kind, decider, (id) => ({ type: 'Create' as const, id, account, fields }))
      return { id, revision }
    },
  })

/** Changes only the fields that are in the body. `check` fails for one that must not be stored. */
export const updateRoute = <F extends object, E extends DomainEvent>(
  path: string,
  decider: OwnedDecider<F, E>,
  label: string,
  body: z.ZodType<Sent<F>>,
  check: (body: Sent<F>) => void = () => {},
) =>
  route({
    method: 'put',
    path,
    scope: 'write',
    params: byId,
    single: true,
    owner: ownedBy(decider),
    body,
    run: async ({ account, params: { id }, body, write }) => {
      check(body)
      const changes = body as Partial<F>
      const { revision } = await write(decider, { type: 'Update', id, account, changes, token: randomUUID() })
      return { message: `${label} has been updated.`, revision }
    },
  })

/** Returns the answer to a deletion, which says how to take it back. `path` is that of the route. */
export const deletedAnswer = (label: string, path: string, id: number) => ({
  message: `${label} has been deleted.`,
  undo: { method: 'POST' as const, path: path.replace(':id', String(id)).replace(/delete$/, 'restore') },
})

/** Returns the answer to a deletion that cannot be undone. */
export const deletedForGood = (label: string, instead: string) => ({
  message: `${label} has been deleted. It cannot come back: ${instead}.`,
  undo: null,
})

export const deleteRoute = <F, E extends DomainEvent>(path: string, decider: OwnedDecider<F, E>, label: string) =>
  route({
    method: 'delete',
    path,
    scope: 'write',
    params: byId,
    single: true,
    run: async ({ account, params: { id }, write }) => {
      await write(decider, { type: 'Delete', id, account })
      return deletedAnswer(label, path, id)
    },
  })
