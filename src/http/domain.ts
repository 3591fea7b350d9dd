import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { getPublicSuffix } from 'tldts'
import { z } from 'zod'
import { domain, hostOf } from '../commands/domain.ts'
import { mine } from '../commands/owned.ts'
import { parseStreamId } from '../events/streams.ts'
import { type DomainRow, listDomains } from '../queries/domain.ts'
import { fail } from './api/errors.ts'
import { listRoute } from './owned.ts'
import { type Call, route, type Services } from './api/route.ts'
import { safeTargetUrl } from '../lib/url.ts'
import { must, orEmpty, url } from './api/fields.ts'

/** For so long a deleted domain's host is kept for its account. */
const reservedMs = 30 * 24 * 3600 * 1000

/** Scheme and host, in punycode; one trailing slash is dropped. */
const origin = z.string(must('a text')).transform((input, context) => {
  const wrong = (problem: string) => {
    context.addIssue(problem)
    return z.NEVER
  }
  if (!/^https?:\/\//i.test(input)) return wrong('must be an address with http or https, like https://go.example.com')
  const checked = safeTargetUrl(input)
  if (!checked.ok) return wrong(checked.problem)
  const { protocol, host, port, hostname, pathname, search, hash } = new URL(checked.url)
  if (port || pathname !== '/' || search || hash || /[?#]/.test(input))
    return wrong('must be scheme and host only, without port, path or query')
  const plain = hostname.replace(/\.$/, '')
  if (isIP(plain.replace(/^\[|\]$/g, ''))) return wrong('must be a name, not an address')
  if (!plain.includes('.') || getPublicSuffix(plain, { allowPrivateDomains: true }) === plain)
    return wrong('must be a host of your own, like https://go.example.com')
  return host ? `${protocol}//${plain}` : z.NEVER
})
const target = orEmpty(url)

const notOurs = (
  fields: { redirectroot?: string | undefined; redirect404?: string | undefined },
  { isOurs }: Services,
) => {
  for (const [field, address] of Object.entries(fields))
    if (address && isOurs(new URL(address).hostname))
      fail(400, `${field}: must not lead to one of this service's own addresses.`)
}

const present = ({ id, domain, redirectroot, redirect404, verified }: DomainRow) => ({
  id,
  domain,
  redirectroot,
  redirect404,
  status: verified ? 'active' : 'unverified',
})

const exists = async ({ account, ids: [id = 0] }: Call<unknown>, { handler }: Services) =>
  mine((await handler.load(domain, id)).state, account, 'Domain')

/** The id under which this account had the host before. */
const formerId = async (host: string, account: number, { handler }: Services) => {
  const holder = await handler.claimant({ kind: 'host', name: host })
  if (!holder) return undefined
  const { number: id } = parseStreamId(holder)
  const { state } = await handler.load(domain, id)
  const same = state.status === 'deleted' && state.account === account && hostOf(state.fields) === host
  return same ? id : undefined
}

const sent = <F extends object>(fields: F) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof F]: Exclude<F[K], undefined>
  }

export const domainRoutes = [
  listRoute('/api/domains', 'domains', listDomains, present),

  route({
    method: 'post',
    path: '/api/domain/add',
    body: z.object({ domain: origin, redirectroot: target.default(''), redirect404: target.default('') }),
    run: async ({ account, body: fields, create, write }, services) => {
      const host = new URL(fields.domain).hostname
      if (services.isOwnHost(host)) fail(400, 'domain: is one of this service\u2019s own.')
      notOurs({ redirectroot: fields.redirectroot, redirect404: fields.redirect404 }, services)
      if (!(await services.pointsToUs(host)))
        fail(
          400,
          `domain: must already point to this service: let its DNS lead to ${services.domainTargets.join(' or ')}.`,
        )
      const former = await formerId(host, account, services)
      const command = { type: 'CreateDomain' as const, account, fields, token: randomUUID() }
      if (former !== undefined) await write(domain, { ...command, id: former })
      const { id } =
        former === undefined ? await create('domain', domain, (id) => ({ ...command, id })) : { id: former }
      return { id }
    },
  }),

  route({
    method: 'put',
    path: '/api/domain/:id/update',
    body: z.object({ redirectroot: target.optional(), redirect404: target.optional() }),
    exists,
    run: async ({ account, ids: [id = 0], body, write }, services) => {
      notOurs(body, services)
      await write(domain, { type: 'UpdateDomain', id, account, changes: sent(body) })
      return { message: 'Domain has been updated.' }
    },
  }),

  route({
    method: 'delete',
    path: '/api/domain/:id/delete',
    run: async ({ account, ids: [id = 0], write }) => {
      const free = new Date(Date.now() + reservedMs).toISOString()
      await write(domain, { type: 'DeleteDomain', id, account, free })
      return { message: 'Domain has been deleted.' }
    },
  }),
]
