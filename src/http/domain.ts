import { isIP } from 'node:net'
import { getPublicSuffix } from 'tldts'
import { z } from 'zod'
import { addDomain } from '../commands/adddomain.ts'
import { domain } from '../commands/domain.ts'
import { defined } from '../lib/defined.ts'
import { must } from '../lib/fields.ts'
import { safeTargetUrl } from '../lib/url.ts'
import { type DomainRow, listDomains } from '../queries/domain.ts'
import { failField } from './api/errors.ts'
import { byId, orEmpty, url } from './api/fields.ts'
import { route } from './api/route.ts'
import { listRoute, ownedBy } from './owned.ts'
import { rejectOwnAddresses } from './ownaddress.ts'

/** ms for which a deleted domain's host stays reserved for its account: 30 days */
const reservedFor = 30 * 24 * 3600 * 1000

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

const present = ({ id, domain, redirectroot, redirect404, verified }: DomainRow) => ({
  id,
  domain,
  redirectroot,
  redirect404,
  status: verified ? 'active' : 'unverified',
})

export const domainRoutes = [
  listRoute('/api/domains', 'domains', listDomains, present),

  route({
    method: 'post',
    path: '/api/domain/add',
    body: z.object({ domain: origin, redirectroot: target.default(''), redirect404: target.default('') }),
    run: async ({ account, load, write, create, body }, services) => {
      const { isMainHost, pointsToUs, domainTargets, handler } = services
      const host = new URL(body.domain).hostname
      if (isMainHost(host)) failField('domain', "must not be one of this service's own")
      rejectOwnAddresses({ redirectroot: [body.redirectroot], redirect404: [body.redirect404] }, services)
      if (!(await pointsToUs(host)))
        failField('domain', `must already point to this service: set its DNS to ${domainTargets.join(' or ')}`)
      const { id } = await addDomain(
        { account, load, write, claimant: handler.claimant, create: (make) => create('domain', domain, make) },
        body,
      )
      return { id }
    },
  }),

  route({
    method: 'put',
    path: '/api/domain/:id/update',
    params: byId,
    owner: ownedBy(domain, 'Domain'),
    body: z.object({ redirectroot: target.optional(), redirect404: target.optional() }),
    run: async ({ account, params: { id }, body, write }, services) => {
      rejectOwnAddresses({ redirectroot: [body.redirectroot], redirect404: [body.redirect404] }, services)
      await write(domain, { type: 'UpdateDomain', id, account, changes: defined(body) })
      return { message: 'Domain has been updated.' }
    },
  }),

  route({
    method: 'delete',
    path: '/api/domain/:id/delete',
    params: byId,
    run: async ({ account, params: { id }, write }) => {
      const free = new Date(Date.now() + reservedFor).toISOString()
      await write(domain, { type: 'DeleteDomain', id, account, free })
      return { message: 'Domain has been deleted.' }
    },
  }),
]
