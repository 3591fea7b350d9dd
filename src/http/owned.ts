import type { Decider } from '../commands/decider.ts'
import { mine, type Owned, type OwnedCommand } from '../commands/owned.ts'
import type { DomainEvent } from '../events/index.ts'
import type { Listed, Page } from '../queries/page.ts'
import type { Reader } from '../queries/reader.ts'
import { type Call, route, type Services } from './route.ts'
import { list, page } from './wire.ts'

type OwnedDecider<F, E> = Decider<OwnedCommand<F>, Owned<F>, E>

/** The resource as its stream says it is, if it is the caller's; else 404. */
export const owns = async <F, E extends DomainEvent>(
  decider: OwnedDecider<F, E>,
  label: string,
  { handler }: Services,
  account: number,
  id: number,
) => {
  const { state, since } = await handler.load(decider, decider.stream({ type: 'Delete', id, account }))
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

export const deleteRoute = <F, E extends DomainEvent>(path: string, decider: OwnedDecider<F, E>, label: string) =>
  route({
    method: 'delete',
    path,
    run: async ({ account, ids: [id = 0], write }) => {
      await write(decider, { type: 'Delete', id, account })
      return { message: `${label} has been deleted.` }
    },
  })
