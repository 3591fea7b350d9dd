import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { type Caller, requireOwn } from '../../commands/caller.ts'
import type { Decider } from '../../commands/decider.ts'
import type { Owned, OwnedCommand } from '../../commands/owned/owned.ts'
import type { DomainEvent } from '../../events/index.ts'
import { kinds, type OwnedKind } from '../../events/kinds.ts'
import { streamId } from '../../events/streams.ts'
import type { OwnedRow } from '../../queries/owned.ts'
import type { Listed, ListRequest } from '../../queries/page.ts'
import type { Reader } from '../../queries/reader.ts'
import { readCurrent } from './write/current.ts'
import { byId } from './fields.ts'
import { list, type ListCall, ownedQuery } from './list/list.ts'
import type { Answer, List } from './contract.ts'
import type { Call, Reading } from './route.ts'

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

/** Returns what a route is that lists rows of the account. */
export const listOwned = <N extends string, Z extends z.ZodObject, R>(
  described: List<N, Z>,
  rows: (reader: Reader, account: number, request: ListRequest) => Promise<Listed<R>>,
  present: (row: R, account: number) => Answer<NoInfer<Z>>,
) => ({
  limited: true as const,
  query: ownedQuery(described),
  run: (call: ListCall & Pick<Call, 'reader'>) =>
    list(
      described,
      call,
      (request) => rows(call.reader, call.account, request),
      (row) => present(row, call.account),
    ),
})

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

interface ById {
  readonly params: { readonly id: number }
}

/** Returns what a route is that shows a resource. */
export const showOwned = <F extends object, E extends DomainEvent, R>(
  decider: OwnedDecider<F, E>,
  find: Find<OwnedRow & F>,
  present: (row: OwnedRow & F) => R,
) => ({
  scope: 'read' as const,
  params: byId,
  single: true as const,
  run: async (call: Reading & ById) => ({ details: present(await readOwned(decider, find, call, call.params.id)) }),
})

/** Returns the addresses in a body that visitors are led to, by their fields. */
export type AddressesOf<F> = (body: Sent<F>) => Readonly<Record<string, readonly (string | undefined)[]>>

/**
 * Returns what a route is that creates a resource. Fields missing from the body get the decider's initial values.
 * `check` fails for a body that must not be stored.
 */
export const addOwned = <F extends object, E extends DomainEvent>(
  kind: OwnedKind,
  decider: OwnedDecider<F, E>,
  body: z.ZodType<Sent<F>>,
  check: (body: Sent<F>) => void = () => {},
) => ({
  scope: 'write' as const,
  limited: true as const,
  body,
  run: async ({ account, body, create }: Pick<Call, 'account' | 'create'> & { readonly body: Sent<F> }) => {
    check(body)
    const fields = { ...decider.initialState.fields, ...body } as F
    const { id, revision } = await create(kind, decider, (id) => ({ type: 'Create' as const, id, account, fields }))
    return { id, revision }
  },
})

/**
 * Returns what a route is that changes the fields of a resource that are in the body. `check` fails for one that must
 * not be stored.
 */
export const updateOwned = <F extends object, E extends DomainEvent>(
  kind: OwnedKind,
  decider: OwnedDecider<F, E>,
  body: z.ZodType<Sent<F>>,
  check: (body: Sent<F>, id: number) => void = () => {},
) => ({
  scope: 'write' as const,
  params: byId,
  single: true as const,
  owner: ownedBy(decider),
  body,
  run: async (call: Pick<Call, 'account' | 'write'> & ById & { readonly body: Sent<F> }) => {
    const { account, params, body, write } = call
    check(body, params.id)
    const changes = body as Partial<F>
    const { revision } = await write(decider, { type: 'Update', id: params.id, account, changes, token: randomUUID() })
    return { message: `${kinds[kind].label} has been updated.`, revision }
  },
})

/** Returns the answer to a deletion, which says how to take it back. */
export const deletedAnswer = (kind: OwnedKind, id: number) => ({
  message: `${kinds[kind].label} has been deleted.`,
  undo: { method: 'POST' as const, path: `/api/${kinds[kind].path}/${id}/restore` },
})

/** Returns the answer to a deletion that cannot be undone. */
export const deletedForGood = (label: string, instead: string) => ({
  message: `${label} has been deleted. It cannot come back: ${instead}.`,
  undo: null,
})

/** Returns what a route is that deletes a resource. */
export const deleteOwned = <F, E extends DomainEvent>(kind: OwnedKind, decider: OwnedDecider<F, E>) => ({
  scope: 'write' as const,
  params: byId,
  single: true as const,
  run: async ({ account, params: { id }, write }: Pick<Call, 'account' | 'write'> & ById) => {
    await write(decider, { type: 'Delete', id, account })
    return deletedAnswer(kind, id)
  },
})
