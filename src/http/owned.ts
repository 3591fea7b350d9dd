import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Decider } from '../commands/decider.ts'
import type { NextIds } from '../commands/handle.ts'
import { mine, type Owned, type OwnedCommand } from '../commands/owned.ts'
import type { DomainEvent } from '../events/index.ts'
import { streamId } from '../events/streams.ts'
import type { OwnedRow } from '../queries/owned.ts'
import type { Listed, Page } from '../queries/page.ts'
import type { Reader } from '../queries/reader.ts'
import { type Call, route, type Services } from './api/route.ts'
import { list, page } from './api/fields.ts'

type OwnedDecider<F, E> = Decider<OwnedCommand<F>, Owned<F>, E>
/** Fields as a body gives them: any may be left out. */
type Sent<F> = { readonly [K in keyof F]?: F[K] | undefined }

/** The resource as its stream says it is, if it is the caller's; else 404. */
export const owns = async <F, E extends DomainEvent>(
  decider: OwnedDecider<F, E>,
  label: string,
  { handler }: Services,
  account: number,
  id: number,
) => {
  const { state, since } = await handler.load(decider, id)
  return { ...mine(state, account, label), id, created: new Date(since) }
}

/** What an unknown id answers, before wrong fields are told. */
export const existing =
  <F, E extends DomainEvent>(decider: OwnedDecider<F, E>, label: string) =>
  ({ account, ids: [id = 0] }: Call<unknown>, services: Services) =>
    owns(decider, label, services, account, id)

export const listRoute = <R>(
  path: string,
  name: string,
  rows: (reader: Reader, account: number, page: Page) => Promise<Listed<R>>,
  present: (row: R, services: Services) => object,
) =>
  route({
    method: 'get',
    path,
    run: async ({ account, query }, services) => {
      const asked = page(query)
      return list(name, asked, await rows(services.reader, account, asked), (row) => present(row, services))
    },
  })

/** The resource from the tables, or while they are late from its own stream; else 404. */
export const readOwned = async <Row, F extends object, E extends DomainEvent>(
  decider: OwnedDecider<F, E>,
  label: string,
  find: (reader: Reader, account: number, id: number) => Promise<Row | undefined>,
  { account, ids: [id = 0] }: Pick<Call<unknown>, 'account' | 'ids'>,
  services: Services,
): Promise<Row | (OwnedRow & F)> => {
  const late = services.pending.has(streamId(decider.kind, id))
  const row = late ? undefined : await find(services.reader, account, id)
  if (row) return row
  const { fields, created } = await owns(decider, label, services, account, id)
  return { ...fields, id, created }
}

export const detailsRoute = <F extends object, E extends DomainEvent>(
  path: string,
  decider: OwnedDecider<F, E>,
  label: string,
  find: (reader: Reader, account: number, id: number) => Promise<(OwnedRow & F) | undefined>,
  present: (row: OwnedRow & F, services: Services) => object,
) =>
  route({
    method: 'get',
    path,
    run: async (call, services) => ({
      details: present(await readOwned(decider, label, find, call, services), services),
    }),
  })

/** What the body leaves out is as the decider's initial fields say. */
export const addRoute = <F extends object, E extends DomainEvent>(
  path: string,
  kind: keyof NextIds,
  decider: OwnedDecider<F, E>,
  body: z.ZodType<Sent<F>>,
) =>
  route({
    method: 'post',
    path,
    body,
    run: async ({ account, body, create }) => {
      const fields = { ...decider.initialState.fields, ...body } as F
      const { id } = await create(kind, decider, (id) => ({ type: 'Create' as const, id, account, fields }))
      return { id }
    },
  })

/** Changes what is sent. */
export const updateRoute = <F extends object, E extends DomainEvent>(
  path: string,
  decider: OwnedDecider<F, E>,
  label: string,
  body: z.ZodType<Sent<F>>,
) =>
  route({
    method: 'put',
    path,
    body,
    exists: existing(decider, label),
    run: async ({ account, ids: [id = 0], body, write }) => {
      const changes = body as Partial<F>
      await write(decider, { type: 'Update', id, account, changes, token: randomUUID() })
      return { message: `${label} has been updated.` }
    },
  })

export const deleteRoute = <F, E extends DomainEvent>(path: string, decider: OwnedDecider<F, E>, label: string) =>
  route({
    method: 'delete',
    path,
    run: async ({ account, ids: [id = 0], write }) => {
      await write(decider, { type: 'Delete', id, account })
      return { message: `${label} has been deleted.` }
    },
  })
