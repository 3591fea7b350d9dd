import { isIP } from 'node:net'
import { getPublicSuffix } from 'tldts'
import { z } from 'zod'
import { addDomain, verifyDomain } from '../../commands/domains/add.ts'
import { type Caller, requireOwn } from '../../commands/caller.ts'
import { Refused } from '../../commands/decider.ts'
import { canBeProven, domain, type DomainCommand, hostOf, hostReservation } from '../../commands/domains/domain.ts'
import { systemMetadata } from '../../events/event.ts'
import { streamId } from '../../events/streams.ts'
import { defined } from '../../lib/defined.ts'
import { must } from '../../lib/fields.ts'
import { safeTargetUrl } from '../../lib/url.ts'
import { type DomainRow, findDomain, findLook, listDomains, saveLook } from '../../queries/domains/domain.ts'
import { readCurrent } from '../api/write/current.ts'
import { failField } from '../api/errors.ts'
import { byId, orEmpty, url } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { route, type Services } from '../api/route.ts'
import { rejectBlocked } from '../api/blockedaddress.ts'
import { verificationOf } from './status.ts'
import { deletedAnswer, ownedBy } from '../api/owned.ts'
import { rejectOwnAddresses } from '../api/ownaddress.ts'
import { listAt } from '../api/describe.ts'
import { domainReference } from '../docs/reference/domain.ts'

const originProblem = (input: string, address: string) => {
  const { port, hostname, pathname, search, hash } = new URL(address)
  if (port || pathname !== '/' || search || hash || /[?#]/.test(input))
    return 'must be scheme and host only, without port, path or query'
  const host = hostname.replace(/\.$/, '')
  if (isIP(host.replace(/^\[|\]$/g, ''))) return 'must be a name, not an IP address'
  return host.includes('.') && getPublicSuffix(host, { allowPrivateDomains: true }) !== host
    ? undefined
    : 'must be a host that you own, for example https://go.example.com'
}
/** Scheme and host, in punycode; one trailing slash is dropped. */
const origin = z.string(must('a string')).transform((input, context) => {
  const checked = safeTargetUrl(input)
  const problem = !/^https?:\/\//i.test(input)
    ? 'must be an address with http or https, for example https://go.example.com'
    : checked.ok
      ? originProblem(input, checked.url)
      : checked.problem
  if (problem !== undefined || !checked.ok) {
    context.addIssue(problem ?? 'must be an address')
    return z.NEVER
  }
  const { protocol, hostname } = new URL(checked.url)
  return `${protocol}//${hostname.replace(/\.$/, '')}`
})
const target = orEmpty(url)
const domainList = listAt(domainReference, '/api/domains')

const present = (account: number, row: DomainRow, { domainCheck }: Pick<Services, 'domainCheck'>) => {
  const { id, domain, redirectroot, redirect404, revision } = row
  return { id, domain, redirectroot, redirect404, revision, ...verificationOf(account, row, domainCheck) }
}

type OwnCall = Pick<Caller, 'account' | 'load' | 'write'>

const readDomain = (call: Pick<OwnCall, 'account' | 'load'>, id: number, { pending, reader }: Services) =>
  readCurrent<DomainRow>({
    pending: pending.has(streamId('domain', id)),
    inTables: () => findDomain(reader, call.account, id),
    inStream: async () => {
      const state = await requireOwn(call, domain, 'Domain', id)
      const { fields, verified, proof = verified ? 'off' : '', created, revision } = state
      const unchecked = { free: null, failures: 0, ...(await findLook(reader, id)) }
      return { ...fields, ...unchecked, id, created, revision, verified, proof }
    },
  })

/** A host that became one of the service's own, or was blocked, after it was added cannot be verified either. */
export const rejectServiceHost = (
  host: string,
  { isMainHost, isOperatorHost, blocks }: Pick<Services, 'isMainHost' | 'isOperatorHost' | 'blocks'>,
) => {
  if (isMainHost(host) || isOperatorHost(host)) failField('domain', "must not be one of this service's own")
  if (blocks.domain(host)) failField('domain', 'is blocked by the operator of this service')
}

export const domainCaller = (call: OwnCall, { handler }: Pick<Services, 'handler'>) => ({
  account: call.account,
  load: call.load,
  write: call.write,
  claimant: handler.claimant,
  now: new Date().toISOString(),
  release: (id: number, owner: number, now: string) =>
    handler.handle(domain, { type: 'ReleaseDomain', id, now }, systemMetadata(owner)),
})

/** Looks the domain up in DNS, and verifies it if that proves it to be the account's. Throws `Refused` when another account was first. */
const lookUp = async (call: OwnCall, id: number, services: Services) => {
  const { domainCheck, reader } = services
  const state = await requireOwn(call, domain, 'Domain', id)
  const host = hostOf(state.fields)
  rejectServiceHost(host, services)
  const look = domainCheck.proof === 'off' ? undefined : await domainCheck.look(call.account, host)
  if (look) await saveLook(reader, id, look)
  if (canBeProven(state, domainCheck.proof) && (!look || domainCheck.proves(look)))
    await verifyDomain(domainCaller(call, services), id, domainCheck.proof)
}

const verificationNow = async (call: OwnCall, id: number, services: Services) => {
  const row = await readDomain(call, id, services)
  return { revision: row.revision, ...verificationOf(call.account, row, services.domainCheck) }
}

export const domainRoutes = [
  route({
    method: 'get',
    path: domainList.path,
    scope: 'read',
    query: listQuery(domainList),
    run: (call, services) =>
      list(
        domainList,
        call,
        services,
        (request) => listDomains(services.reader, call.account, request),
        (row) => present(call.account, row, services),
      ),
  }),

  route({
    method: 'get',
    path: '/api/domain/:id',
    single: true,
    scope: 'read',
    params: byId,
    run: async (call, services) => ({
      details: present(call.account, await readDomain(call, call.params.id, services), services),
    }),
  }),

  route({
    method: 'post',
    path: '/api/domain/add',
    scope: 'write',
    body: z.object({ domain: origin, redirectroot: target.default(''), redirect404: target.default('') }),
    run: async (call, services) => {
      const { account, create, write, body } = call
      const { domains, domainCheck, quotas } = services
      rejectServiceHost(hostOf(body), services)
      rejectOwnAddresses({ redirectroot: [body.redirectroot], redirect404: [body.redirect404] }, services)
      rejectBlocked({ redirectroot: [body.redirectroot], redirect404: [body.redirect404] }, services)
      // a domain that the account had before is not created but comes back, and needs room like a new one
      const revive: typeof write = async (decider, command) => {
        const end = await quotas.reserve(account, 'domain')
        const handled = await write(decider, command).catch((error: unknown) => {
          end()
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
      const { id } = (await call.created('domain', domain)) ?? (await addDomain(creator, body, proof))
      // the record may be there already: it is the same for all domains of an account
      const looked = proof ? undefined : lookUp(call, id, services)
      await looked?.catch((error: unknown) => {
        // it stays pending: another account was verified at the same moment
        if (!(error instanceof Refused)) throw error
      })
      return { id, ...(await verificationNow(call, id, services)) }
    },
  }),

  route({
    method: 'post',
    path: '/api/domain/:id/verify',
    scope: 'write',
    params: byId,
    run: async (call, services) => {
      const { id } = call.params
      await lookUp(call, id, services)
      const { status, ...more } = await verificationNow(call, id, services)
      const message = status === 'active' ? 'Domain is verified.' : 'Domain is not verified yet.'
      return { message, id, status, ...more }
    },
  }),

  route({
    method: 'put',
    path: '/api/domain/:id/update',
    single: true,
    scope: 'write',
    params: byId,
    owner: ownedBy(domain, 'Domain'),
    body: z.object({ redirectroot: target.optional(), redirect404: target.optional() }),
    run: async ({ account, params: { id }, body, write }, services) => {
      rejectOwnAddresses({ redirectroot: [body.redirectroot], redirect404: [body.redirect404] }, services)
      rejectBlocked({ redirectroot: [body.redirectroot], redirect404: [body.redirect404] }, services)
      const { revision } = await write(domain, { type: 'UpdateDomain', id, account, changes: defined(body) })
      return { message: 'Domain has been updated.', revision }
    },
  }),

  route({
    method: 'delete',
    path: '/api/domain/:id/delete',
    single: true,
    scope: 'write',
    params: byId,
    run: async ({ account, params: { id }, write }) => {
      await write(domain, { type: 'DeleteDomain', id, account, free: hostReservation(new Date().toISOString()) })
      return deletedAnswer('Domain', '/api/domain/:id/delete', id)
    },
  }),
]
