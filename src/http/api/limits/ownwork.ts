import type { Decider } from '../../../commands/decider.ts'
import { refuse } from '../../../commands/decider.ts'
import type { Handler } from '../../../commands/handle.ts'
import { isLimitedToOwn } from '../../../events/accounts/role.ts'
import { ownMember } from '../../../events/accounts/team.ts'
import type { DomainEvent } from '../../../events/index.ts'
import { isResource, kindAt, kindOf, kinds } from '../../../events/kinds.ts'
import { streamId } from '../../../events/streams.ts'
import type { PendingStreams } from '../../../cache/pending.ts'
import { isMadeBy, type Made } from '../../../queries/accounts/maker.ts'
import type { Reader } from '../../../queries/reader.ts'
import { fail } from '../errors.ts'
import type { Route, Who, Writer } from '../route.ts'

/** Kinds that links of all members may use: who is limited to their own work reads them, too. */
const shared: ReadonlySet<string> = new Set(['domain', 'overlay', 'pixel', 'splash'])

/** Returns whose work a caller is limited to; undefined: they see all of the account. */
export const limitOf = (who: Pick<Who, 'account' | 'member'> | undefined): Made | undefined =>
  who?.member && isLimitedToOwn(who.member.role) ? { account: who.account, member: who.member.number } : undefined

const refuseRole = () => fail(403, 'lacks_rights', { what: 'role', role: 'author' })

/**
 * Returns whose work a list or a statistic is of: what was asked for, which has to be the caller's own where they are
 * limited to that. Lists of what all members may use are not limited.
 */
export const madeIn = (
  { account, limited, path }: { readonly account: number; readonly limited: Made | undefined; readonly path: string },
  member: number | undefined,
): Made | undefined => {
  const made = member === undefined ? undefined : { account, member }
  const isShared = [...shared].some((kind) => kindOf(kind)?.list === path)
  if (limited === undefined || isShared) return made
  if (made !== undefined && made.member !== limited.member) return refuseRole()
  return limited
}

interface Sources {
  readonly reader: Reader
  readonly pending: Pick<PendingStreams, 'has'>
  readonly handler: Pick<Handler, 'steps'>
}

/** The first event of a stream says who made it while the tables do not. */
const isFirstBy = async ({ handler }: Sources, kind: string, id: number, { account, member }: Made) => {
  const unread = { kind, version: 0, initialState: undefined, evolve: () => undefined }
  for await (const { event } of handler.steps(unread as never, id, { from: 0, upTo: 0 })) {
    const { actor, account: owner } = event.metadata
    return owner === account && (actor.member ?? ownMember) === member
  }
  return false
}

/** Throws `Refused` (`not_found`) unless a resource is the work that a caller is limited to. */
const requireOwnWork = async (sources: Sources, kind: string, id: number, made: Made) => {
  const stream = streamId(kind as Parameters<typeof streamId>[0], id)
  if (await isMadeBy(sources.reader, stream, made)) return
  if (sources.pending.has(stream) && (await isFirstBy(sources, kind, id, made))) return
  refuse('not_found', { what: kind as 'link' })
}

/** `/api/url/:id/update`: the path of a kind, and what follows the id */
const ofResource = /^\/api\/([^/]+)\/:id(\/.*)?$/

/** Returns the kind of resource that the path of a route names, if one can be somebody's work. */
const workAt = ({ path }: Pick<Route, 'path'>) => {
  const kind = kindAt(ofResource.exec(path)?.[1] ?? '')
  return kind !== undefined && kinds[kind].kept ? kind : undefined
}

/** Whether callers who are limited to their own work may call a route. */
export const isWithinLimit = (route: Pick<Route, 'limited' | 'path' | 'person' | 'public' | 'scope'>): boolean =>
  [route.limited, route.person, route.public].some(Boolean) ||
  [route.scope].flat().length === 0 ||
  workAt(route) !== undefined

/**
 * Checks that a caller who is limited to their own work may call a route for what its path names. Fails with 403 for a
 * route that shows or changes anything else; throws `Refused` (`not_found`) for what others have made.
 */
export const requireWithinLimit = async (
  route: Route,
  params: Readonly<Record<string, unknown>>,
  made: Made,
  sources: Sources,
): Promise<void> => {
  if (!isWithinLimit(route)) return refuseRole()
  const kind = workAt(route)
  if (kind === undefined) return
  const isWhole = route.method === 'get' && ofResource.exec(route.path)?.[2] === undefined
  if (!(isWhole && shared.has(kind))) await requireOwnWork(sources, kind, Number(params['id']), made)
}

/** Returns a writer that finds and changes what its caller has made, besides what all members may use. */
export const limitedWriter = <W extends Writer>(writer: W, made: Made, sources: Sources): W => {
  /** streams that the request has begun, which no table has yet */
  const begun = new Set<string>()
  const check = async <C, S, E extends DomainEvent>({ kind }: Decider<C, S, E>, id: string | number) => {
    if (!isResource(kind) || kind === 'account' || begun.has(streamId(kind, Number(id)))) return
    await requireOwnWork(sources, kind, Number(id), made)
  }
  return {
    ...writer,
    load: async (decider, id) => {
      if (!shared.has(decider.kind)) await check(decider, id)
      return writer.load(decider, id)
    },
    write: async (decider, command) => {
      await check(decider, decider.id(command))
      return writer.write(decider, command)
    },
    create: async (kind, decider, make) => {
      const made = await writer.create(kind, decider, make)
      begun.add(streamId(decider.kind, made.id))
      return made
    },
  }
}
