import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Caller } from '../../src/commands/caller.ts'
import { bio } from '../../src/commands/pages/bio.ts'
import { campaign } from '../../src/commands/links/campaign.ts'
import { channel } from '../../src/commands/links/channel.ts'
import { type Decider, Refused } from '../../src/commands/decider.ts'
import { domain } from '../../src/commands/domains/domain.ts'
import { handler } from '../../src/commands/handle.ts'
import type { Context } from '../../src/commands/context.ts'
import { link } from '../../src/commands/links/link.ts'
import { overlay } from '../../src/commands/pages/overlay.ts'
import type { Owned, OwnedCommand } from '../../src/commands/owned/owned.ts'
import { pixel } from '../../src/commands/pages/pixel.ts'
import { qr } from '../../src/commands/qr/qr.ts'
import { splash } from '../../src/commands/pages/splash.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import type { EventStore } from '../../src/events/store.ts'
import { at, linkFields } from './events.ts'
import { countingIds } from './writer.ts'

/** Returns an account that works on a store as a request of the API would, without HTTP. */
export const callerOn = (store: EventStore, account: number, ids = countingIds().next) => {
  const { load, handle, create: allocate, claimant } = handler(store)
  const context = (): Context => ({
    account,
    actor: { kind: 'key', key: 'k' },
    request: 'r',
    command: randomUUID(),
    at: at(0),
  })
  const caller: Caller = { account, load, write: (decider, command) => handle(decider, command, context()) }
  const create = <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, make: (id: number) => C) => {
    const own = context()
    return allocate(decider, ids, make, () => own)
  }
  const createOwned = async <F extends object, E extends DomainEvent>(
    decider: Decider<OwnedCommand<F>, Owned<F>, E>,
    fields: Partial<F> = {},
  ) => {
    const all = { ...decider.initialState.fields, ...fields }
    return (await create(decider, (id) => ({ type: 'Create' as const, id, account, fields: all, token: randomUUID() })))
      .id
  }
  const unique = () => randomUUID().slice(0, 8)

  return {
    ...caller,
    claimant,
    create,
    createBio: (alias = unique()) => createOwned(bio, { alias }),
    createCampaign: () => createOwned(campaign, { slug: unique() }),
    createChannel: () => createOwned(channel),
    createOverlay: () => createOwned(overlay, { message: 'Hello' }),
    createPixel: () => createOwned(pixel),
    createQr: (alias = unique()) => createOwned(qr, { alias }),
    createSplash: () => createOwned(splash),
    createLink: async () =>
      (
        await create(link, (id) => ({
          type: 'CreateLink' as const,
          id,
          account,
          fields: { ...linkFields, alias: unique() },
          password: null,
          token: randomUUID(),
          now: at(0),
        }))
      ).id,
    createDomain: async (host: string) =>
      (
        await create(domain, (id) => ({
          type: 'CreateDomain' as const,
          id,
          account,
          fields: { domain: `https://${host}`, redirectroot: '', redirect404: '' },
          token: randomUUID(),
          proof: 'off' as const,
          now: at(0),
        }))
      ).id,
    deleteOwned: <F extends object, E extends DomainEvent>(
      decider: Decider<OwnedCommand<F>, Owned<F>, E>,
      id: number,
    ) => caller.write(decider, { type: 'Delete', id, account }),
  }
}

/** Returns the `Refused` that a use case throws. */
export const refusalOf = async (work: Promise<unknown>): Promise<Refused> => {
  try {
    await work
  } catch (error) {
    if (error instanceof Refused) return error
    throw error
  }
  return expect.fail('it was not refused')
}
