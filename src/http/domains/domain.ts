import { z } from 'zod'
import type { Domains } from '../../cache/domains.ts'
import type { Quotas } from '../../cache/quotas.ts'
import type { DomainCheck } from '../../commands/domains/check.ts'
import type { Handler } from '../../commands/handle.ts'
import { addDomain, verifyDomain } from '../../commands/domains/add.ts'
import { type Caller, requireOwn } from '../../commands/caller.ts'
import { Refused } from '../../commands/decider.ts'
import { canBeProven, domain, type DomainCommand, hostOf, hostReservation } from '../../commands/domains/domain.ts'
import { completedDomain } from '../../events/domains/domain.ts'
import { systemMetadata } from '../../events/event.ts'
import { streamId } from '../../events/streams.ts'
import { defined } from '../../lib/defined.ts'
import { must } from '../../lib/fields.ts'
import {
  type DomainRow,
  findDomain,
  findLook,
  listDomains,
  type ListedDomain,
  saveLook,
} from '../../queries/domains/domain.ts'
import { readCurrent } from '../api/write/current.ts'
import { Proposed } from '../approvals/guard.ts'
import { byId, orEmpty, url } from '../api/fields.ts'
import { endpoint, type Reading, type Route } from '../api/route.ts'
import { rejectRedirects, rejectServiceHost, type ServiceHosts } from './allowed.ts'
import { origin } from './origin.ts'
import { android, apple } from './apps.ts'
import { verificationOf } from './status.ts'
import { deletedAnswer, listOwned, ownedBy } from '../api/owned.ts'
import type { OurHosts } from '../api/ownaddress.ts'
import { domainContract, domainList } from './contract.ts'

/** What the routes of domains need. */
export interface DomainServices extends ServiceHosts, OurHosts {
  readonly handler: Pick<Handler, 'claimant' | 'handle'>
  readonly domains: Domains
  readonly domainCheck: DomainCheck
  readonly quotas: Quotas
}

/** Placeholders stay readable where a URL has escapes for their braces. */
const target = orEmpty(url.transform((to) => to.replaceAll(/%7B(path|host|query)%7D/g, '{$1}')))

const present = (account: number, row: ListedDomain, { domainCheck }: Pick<DomainServices, 'domainCheck'>) => {
  const { id, domain, redirectroot, redirect404, exact, revision } = row
  const aliases = exact ? ('exact' as const) : ('folded' as const)
  return { id, domain, redirectroot, redirect404, aliases, revision, ...verificationOf(account, row, domainCheck) }
}

type OwnCall = Reading & Pick<Caller, 'write'>

const readDomain = (call: Reading, id: number) =>
  readCurrent<DomainRow>({
    pending: call.pending.has(streamId('domain', id)),
    inTables: () => findDomain(call.reader, call.account, id),
    inStream: async () => {
      const state = await requireOwn(call, domain, id)
      const { fields, verified, exact = null, proof = verified ? 'off' : '', created, revision } = state
      const unchecked = { free: null, failures: 0, ...(await findLook(call.reader, id)) }
      return { ...completedDomain(fields), ...unchecked, exact, id, created, revision, verified, proof }
    },
  })

export const domainCaller = (call: Caller, { handler }: Pick<DomainServices, 'handler'>) => ({
  account: call.account,
  load: call.load,
  write: call.write,
  claimant: handler.claimant,
  now: new Date().toISOString(),
  release: (id: number, owner: number, now: string) =>
    handler.handle(domain, { type: 'ReleaseDomain', id, now }, systemMetadata(owner)),
})

/**
 * Looks the domain up in DNS, and verifies it if that proves it to be the account's. Throws `Refused` when another
 * account was first.
 */
const lookUp = async (call: OwnCall, id: number, services: DomainServices) => {
  const { domainCheck } = services
  const state = await requireOwn(call, domain, id)
  const host = hostOf(state.fields)
  rejectServiceHost(host, services)
  const look = domainCheck.proof === 'off' ? undefined : await domainCheck.look(call.account, host)
  if (look) await saveLook(call.reader, id, look)
  if (canBeProven(state, domainCheck.proof) && (!look || domainCheck.proves(look)))
    await verifyDomain(domainCaller(call, services), id, domainCheck.proof)
}

const verificationNow = async (call: OwnCall, id: number, services: DomainServices) => {
  const row = await readDomain(call, id)
  return { revision: row.revision, ...verificationOf(call.account, row, services.domainCheck) }
}

const ownList = (services: DomainServices) =>
  endpoint(domainContract, 'GET /api/domains', {
    scope: 'read',
    ...listOwned(domainList, listDomains, (row, account) => present(account, row, services)),
  })

const details = (services: DomainServices) =>
  endpoint(domainContract, 'GET /api/domain/:id', {
    single: true,
    scope: 'read',
    params: byId,
    run: async (call) => {
      const row = await readDomain(call, call.params.id)
      const { apple, android } = row
      return { details: { ...present(call.account, row, services), apple, android } }
    },
  })

const add = (services: DomainServices) =>
  endpoint(domainContract, 'POST /api/domain/add', {
    scope: 'write',
    body: z.object({
      domain: origin,
      redirectroot: target.default(''),
      redirect404: target.default(''),
      aliases: z.enum(['folded', 'exact'], must('not_one_of', { values: 'folded, exact' })).optional(),
    }),
    run: async (call) => {
      const { account, create, write, body } = call
      const { aliases, ...others } = body
      const { domains, domainCheck, quotas } = services
      rejectServiceHost(hostOf(body), services)
      rejectRedirects(body, services)
      // a domain that the account had before is not created but comes back, and needs room like a new one
      const revive: typeof write = async (decider, command) => {
        const end = await quotas.reserve(account, 'domain')
        const handled = await write(decider, command).catch((error: unknown) => {
          end()
          if (error instanceof Proposed) throw new Proposed(error.proposal, { id: Number(decider.id(command)) })
          throw error
        })
        end(handled.position)
        return handled
      }
      const creator = {
        ...domainCaller(call, services),
        write: revive,
        create: (make: (id: number) => DomainCommand) => create('domain', domain, make),
        own: (host: string) => domains.own(account, host)?.id,
      }
      const proof = domainCheck.proof === 'off' ? 'off' : undefined
      // a domain that an interrupted execution has added is among the account's own
      const { id } =
        (await call.created('domain', domain)) ??
        (await addDomain(creator, { ...others, exact: aliases && aliases === 'exact' }, proof))
      // the record may be there already: it is the same for all domains of an account
      const looked = proof ? undefined : lookUp(call, id, services)
      await looked?.catch((error: unknown) => {
        // it stays pending: another account was verified at the same moment
        if (!(error instanceof Refused)) throw error
      })
      return { id, ...(await verificationNow(call, id, services)) }
    },
  })

const verify = (services: DomainServices) =>
  endpoint(domainContract, 'POST /api/domain/:id/verify', {
    scope: 'write',
    params: byId,
    run: async (call) => {
      const { id } = call.params
      await lookUp(call, id, services)
      const { status, ...more } = await verificationNow(call, id, services)
      const message = status === 'active' ? 'Domain is verified.' : 'Domain is not verified yet.'
      return { message, id, status, ...more }
    },
  })

const update = (services: DomainServices) =>
  endpoint(domainContract, 'PUT /api/domain/:id/update', {
    single: true,
    scope: 'write',
    params: byId,
    owner: ownedBy(domain),
    body: z.object({ redirectroot: target, redirect404: target, apple, android }).partial(),
    run: async ({ account, params: { id }, body, write }) => {
      rejectRedirects(body, services)
      const { revision } = await write(domain, { type: 'UpdateDomain', id, account, changes: defined(body) })
      return { message: 'Domain has been updated.', revision }
    },
  })

const remove = endpoint(domainContract, 'DELETE /api/domain/:id/delete', {
  single: true,
  scope: 'write',
  params: byId,
  run: async ({ account, params: { id }, write }) => {
    await write(domain, { type: 'DeleteDomain', id, account, free: hostReservation(new Date().toISOString()) })
    return deletedAnswer('domain', id)
  },
})

export const domainRoutes = (services: DomainServices): readonly Route[] => [
  ownList(services),
  details(services),
  add(services),
  verify(services),
  update(services),
  remove,
]
