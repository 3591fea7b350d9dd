import { link } from '../../../commands/links/link.ts'
import { domainsOf } from '../../../commands/links/places.ts'
import { refuse } from '../../../commands/decider.ts'
import type { Handler } from '../../../commands/handle.ts'
import type { Load } from '../../../commands/load.ts'
import { isLimitedToOwn } from '../../../events/accounts/role.ts'
import { ownMember } from '../../../events/accounts/team.ts'
import { isResource, kindAt, kindOf, kinds, type ResourceKind } from '../../../events/kinds.ts'
import { streamId } from '../../../events/streams.ts'
import type { PendingStreams } from '../../../cache/pending.ts'
import { isMadeBy, onOwnHost, type Part } from '../../../queries/accounts/part.ts'
import type { Reader } from '../../../queries/reader.ts'
import { fail } from '../errors.ts'
import type { Route, Who, Writer } from '../route.ts'

/** Kinds that links of all members may use: who is limited to a part of the account reads them, too. */
const shared: ReadonlySet<string> = new Set(['domain', 'overlay', 'pixel', 'splash'])

/** Returns the part of the account that a caller is limited to; undefined: they see all of it. */
export const limitOf = (who: Pick<Who, 'account' | 'member'> | undefined): Part | undefined => {
  if (!who?.member) return undefined
  const { number: holder, role, domains } = who.member
  const maker = isLimitedToOwn(role) ? holder : undefined
  return maker === undefined && domains === undefined ? undefined : { account: who.account, holder, maker, domains }
}

const refuseRole = () => fail(403, 'lacks_rights', { what: 'limited' })

/**
 * Returns the part of the account that a list or a statistic is of: what `made_by` asks for, within the caller's limit.
 * Lists of what all members may use have no limit but that of domains.
 */
export const partIn = (
  { account, limited, path }: { readonly account: number; readonly limited: Part | undefined; readonly path: string },
  member: number | undefined,
): Part | undefined => {
  const kind = [...shared].find((one) => kindOf(one)?.list === path)
  const ofDomains = kind === 'domain' && limited?.domains ? { ...limited, maker: undefined } : undefined
  const limit = kind === undefined ? limited : ofDomains
  if (member === undefined) return limit
  if (limit?.maker !== undefined && limit.maker !== member) return refuseRole()
  return { account, ...limit, maker: member }
}

interface Sources {
  readonly reader: Reader
  readonly pending: Pick<PendingStreams, 'has'>
  readonly handler: Pick<Handler, 'load' | 'steps'>
}

/** The first event of a stream says who made it while the tables do not. */
const isFirstBy = async ({ handler }: Sources, kind: string, id: number, account: number, member: number) => {
  const unread = { kind, version: 0, initialState: undefined, evolve: () => undefined }
  for await (const { event } of handler.steps(unread as never, id, { from: 0, upTo: 0 })) {
    const { actor, account: owner } = event.metadata
    return owner === account && (actor.member ?? ownMember) === member
  }
  return false
}

const isWorkOf = async (sources: Sources, kind: ResourceKind, id: number, account: number, member: number) => {
  const stream = streamId(kind, id)
  if (await isMadeBy(sources.reader, stream, account, member)) return true
  return sources.pending.has(stream) && isFirstBy(sources, kind, id, account, member)
}

/** Whether a resource is on the domains that a caller is limited to; what is on none has to be their own work. */
const isOnDomains = async (sources: Sources, kind: ResourceKind, id: number, part: Part) => {
  const { account, domains, holder = ownMember } = part
  if (domains === undefined) return true
  if (kind === 'domain') return domains.includes(id)
  if (onOwnHost.has(kind)) return domains.includes(0)
  if (kind !== 'link') return isWorkOf(sources, kind, id, account, holder)
  return domainsOf((await sources.handler.load(link, id)).state).some((one) => domains.includes(one))
}

/** Throws `Refused` (`not_found`) unless a resource is in the part that a caller is limited to. */
const requireInPart = async (sources: Sources, kind: ResourceKind, id: number, part: Part) => {
  const { account, maker } = part
  const isIn =
    (maker === undefined || (await isWorkOf(sources, kind, id, account, maker))) &&
    (await isOnDomains(sources, kind, id, part))
  if (!isIn) refuse('not_found', { what: kind as 'link' })
}

/** `/api/url/:id/update`: the path of a kind, and what follows the id */
const ofResource = /^\/api\/([^/]+)\/:id(\/.*)?$/

/** Returns the kind of resource that the path of a route names, if one can be in a part of an account. */
const resourceAt = ({ path }: Pick<Route, 'path'>) => {
  const kind = kindAt(ofResource.exec(path)?.[1] ?? '')
  return kind !== undefined && kinds[kind].kept ? kind : undefined
}

/** Whether callers who are limited to a part of the account may call a route. */
export const isWithinLimit = (route: Pick<Route, 'limited' | 'path' | 'person' | 'public' | 'scope'>): boolean =>
  [route.limited, route.person, route.public].some(Boolean) ||
  [route.scope].flat().length === 0 ||
  resourceAt(route) !== undefined

/**
 * Checks that a caller who is limited to a part of the account may call a route for what its path names. Fails with 403
 * for a route that shows or changes anything else; throws `Refused` (`not_found`) for what is not in that part.
 */
export const requireWithinLimit = async (
  route: Route,
  params: Readonly<Record<string, unknown>>,
  part: Part,
  sources: Sources,
): Promise<void> => {
  if (!isWithinLimit(route)) return refuseRole()
  const kind = resourceAt(route)
  if (kind === undefined) return
  const isRead = shared.has(kind) && route.method === 'get' && ofResource.exec(route.path)?.[2] === undefined
  // of what all members may use, only domains can be limited
  if (isRead && kind !== 'domain') return
  await requireInPart(sources, kind, Number(params['id']), isRead ? { ...part, maker: undefined } : part)
}

interface Place {
  readonly domain?: number | null
}
/** The domains that a command gives a link. */
const domainsIn = (command: unknown): readonly (number | null)[] => {
  interface Former {
    readonly fields?: Place
    readonly places?: { readonly others: readonly Place[] }
  }
  const { fields, changes, to } = command as { readonly fields?: Place; readonly changes?: Place; readonly to?: Former }
  const all = [fields, changes, to?.fields, ...(to?.places?.others ?? [])]
  return all.flatMap((place) => (place?.domain === undefined ? [] : [place.domain]))
}

/** Fails with 403 unless a caller may use all of some domains; null is the service's own host. */
export const requireDomains = (part: Part | undefined, used: readonly (number | null)[]) => {
  const { domains } = part ?? {}
  if (domains && used.some((domain) => !domains.includes(domain ?? 0))) fail(403, 'lacks_rights', { what: 'domain' })
}

/** Fails with 403 when a link has an address on a domain that a caller may not use: a change would show there, too. */
export const requireAllDomains = async ({ load }: Pick<Handler, 'load'>, id: number, part: Part | undefined) => {
  if (part?.domains) requireDomains(part, domainsOf((await load(link, id)).state))
}

/** Fails for a command that puts something on a domain that a caller may not use. */
export const requireDomain = (kind: string, command: unknown, part: Part, isNew: boolean) =>
  requireDomains(part, kind === 'link' ? domainsIn(command) : isNew && onOwnHost.has(kind) ? [null] : [])

/** Throws `Refused` (`not_found`) for a resource outside of a part, unless the request has created it. */
const requireReachable = async (
  sources: Sources,
  kind: string,
  id: string | number,
  part: Part,
  begun: ReadonlySet<string>,
) => {
  if (!isResource(kind) || kind === 'account' || begun.has(streamId(kind, Number(id)))) return
  await requireInPart(sources, kind, Number(id), part)
}

/** Returns a `load` for what is in a part of an account, and for what all members may use. */
export const limitedLoad =
  (load: Load, part: Part, sources: Sources, begun: ReadonlySet<string> = new Set()): Load =>
  async (decider, id) => {
    if (!shared.has(decider.kind)) await requireReachable(sources, decider.kind, id, part, begun)
    return load(decider, id)
  }

/** Whether two callers see the same of their account. */
export const isSamePart = (one: Part | undefined, other: Part | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** Returns a writer that finds and changes what is in the part of its caller, besides what all members may use. */
export const limitedWriter = <W extends Writer>(writer: W, part: Part, sources: Sources): W => {
  const work: Part = { account: part.account, maker: part.holder }
  /** streams that the request has begun, which no table has yet */
  const begun = new Set<string>()
  return {
    ...writer,
    load: limitedLoad(writer.load, part, sources, begun),
    write: async (decider, command) => {
      await requireReachable(sources, decider.kind, decider.id(command), part, begun)
      // to use a domain is not to change it
      if (decider.kind === 'domain') await requireInPart(sources, 'domain', Number(decider.id(command)), work)
      if (decider.kind === link.kind) await requireAllDomains(sources.handler, Number(decider.id(command)), part)
      requireDomain(decider.kind, command, part, false)
      return writer.write(decider, command)
    },
    create: async (kind, decider, make) => {
      requireDomain(decider.kind, make(0), part, true)
      const made = await writer.create(kind, decider, make)
      begun.add(streamId(decider.kind, made.id))
      return made
    },
  }
}
