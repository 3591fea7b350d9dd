import { randomBytes } from 'node:crypto'
import type { Place, SourceAddress, SourceLink } from './records.ts'
import { addressName, visitsOfLink } from './survey.ts'

/** A link as a row of `POST /api/urls/bulk`. */
export interface Row {
  readonly place: Place
  /** in the source */
  readonly alias: string | undefined
  /** identifies its address in the source */
  readonly address: string | undefined
  /** identifies the main address of the link in the source, when this is a further address */
  readonly main?: string
  /** the alias of that main address */
  readonly mainAlias?: string
  /** another row gives its link the same address here: several hosts of the source are one host here */
  readonly same?: boolean
  /** the link that gets it as one more address; undefined: it creates a link of its own, or stores nothing */
  readonly link?: number | undefined
  /** the link that has its main address, and may have this address, too */
  readonly of?: number | undefined
  readonly url: string
  readonly body: Readonly<Record<string, unknown>>
  /** differences from the source, as sentences */
  readonly notes: readonly string[]
  /** fields of the source without a counterpart here, by their names there */
  readonly left: readonly string[]
}

interface Mapping {
  readonly source: () => string
  /** the domain here for each host there; '': for others, and addresses without a host */
  readonly domains: ReadonlyMap<string, string>
  /** single visits of each address, which are imported one by one */
  readonly visitsOf: ReadonlyMap<string, number>
}

/** Fields of targets, and what their entries name. */
const targetFields = { device: 'devicetarget', location: 'geotarget', language: 'languagetarget' } as const

const targetsOf = ({ targets = [] }: SourceLink) =>
  Object.fromEntries(
    (['device', 'location', 'language'] as const).flatMap((kind) => {
      const own = targets.filter((target) => target.kind === kind)
      return own.length === 0 ? [] : [[targetFields[kind], own.map(({ name, url }) => ({ [kind]: name, link: url }))]]
    }),
  )

/** Returns how many clicks are left until a link ends. Only clicks that are measured here count. */
const remaining = ({ maxClicks, clicks = 0, measured = clicks }: SourceLink) => maxClicks && maxClicks - measured

/** Whether a link had stopped redirecting at the source service at a moment. */
export const hasEnded = (link: SourceLink, now: string): boolean =>
  link.banned === true || (link.expiry !== undefined && link.expiry <= now) || (remaining(link) ?? 1) <= 0

const passwordOf = ({ password }: SourceLink) => {
  if (password === undefined) return {}
  // a link with an unknown password stays closed until its owner sets another one
  return { password: password === 'unknown' ? randomBytes(24).toString('base64url') : password.clear }
}

const withoutUndefined = (body: object) =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))

const notesOf = ({ password, notes = [] }: SourceLink) =>
  password === 'unknown' ? [...notes, 'Its password is not known: set a new one.'] : notes

/**
 * Returns the rows of a link: one for each of its addresses; the first has the clicks. A further address could become a
 * link of its own, so its row has all fields of the link.
 */
export const rowsOf = (link: SourceLink, { source, domains, visitsOf }: Mapping): readonly Row[] => {
  const { place, url, title, description, tags, created, expiry, starts, archived } = link
  const single = visitsOfLink(link, visitsOf)
  const clicks = link.clicks && Math.max(0, link.clicks - single)
  // the source does not say how many people came by other visits than these
  const uniques = single > 0 ? undefined : link.uniques
  const addresses: readonly (SourceAddress | undefined)[] = link.addresses.length > 0 ? link.addresses : [undefined]
  const seen = new Set<string>()
  return addresses.map((address, n) => {
    const isFurther = n > 0
    const body = withoutUndefined({
      ...link.fields,
      url,
      // the root of a host has no alias: it gets a random one
      custom: address?.alias || undefined,
      domain: domains.get(address?.host ?? '') ?? domains.get(''),
      title,
      description,
      tags: tags === undefined || tags.length === 0 ? undefined : tags,
      date: created,
      expiry,
      starts,
      archived: archived || undefined,
      max_clicks: remaining(link),
      ...targetsOf(link),
      ...passwordOf(link),
      ...(!isFurther && (clicks || uniques) && { clicks, uniqueclicks: uniques, source: source() }),
    })
    const here = `${String(body['domain'] ?? '')}/${address?.alias ?? ''}`
    const same = seen.has(here)
    seen.add(here)
    const names = { alias: address?.alias, address: address && addressName(address) }
    if (!isFurther) return { place, ...names, url, body, notes: notesOf(link), left: link.left ?? [] }
    const [first] = link.addresses
    return { place, ...names, main: addressName(first!), mainAlias: first!.alias, same, url, body, notes: [], left: [] }
  })
}
