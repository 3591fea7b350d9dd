import { defined } from '../lib/defined.ts'
import { problem, sentenceOf } from '../lib/problems/problem.ts'
import { addressesOf, hostIn } from './address.ts'
import { type Field, fieldOf, type Meaning } from './fields.ts'
import { takingOwn } from './own.ts'
import { isNever, type Reading } from './reading.ts'
import type { Place, SourceLink, SourceProblem, SourceTarget } from './records.ts'
import {
  countOf,
  filledText,
  isBlank,
  isEmpty,
  isOpen,
  type Named,
  passwordOf,
  structured,
  tagsOf,
  targetsOf,
  textsOf,
  timeOf,
  truthOf,
  Unreadable,
} from './values.ts'

type Found = ReadonlyMap<Field, Named>

const addressesIn = (found: Found, links: readonly Named[], { format }: Reading) => {
  const host = filledText(found.get('host'))
  const named = found.get('alias')
  const text = filledText(named) ?? (named && format === 'shortio' ? '' : undefined)
  // no alias begins like a URL: it has no empty part
  const isUrl = text !== undefined && /^https?:\/\//i.test(text)
  const alias = isUrl ? undefined : format === 'dub' && text === '_root' ? '' : text?.replace(/^\//, '')
  // Shlink uses DEFAULT for its own host; the id of a domain identifies no host
  const isOwn = host === undefined || (format === 'shlink' && host === 'DEFAULT') || /^\d+$/.test(host)
  const urls = [...(isUrl ? [text] : []), ...links.flatMap(textsOf)].flatMap((one) => one.split(/[\s,;|]+/))
  const all = addressesOf(
    alias,
    isOwn ? undefined : hostIn(host),
    urls.filter((one) => one !== ''),
  )
  // a link of Shlink has one alias: the path of the server may precede it in the short URL
  return format === 'shlink' && alias !== undefined ? all.slice(0, 1) : all
}

const allTargets = (found: Found): readonly SourceTarget[] => [
  ...(['iphone', 'ios', 'android'] as const).flatMap((name) => {
    const url = filledText(found.get(name))
    return url === undefined ? [] : [{ kind: 'device' as const, name, url }]
  }),
  ...(['device', 'location', 'language'] as const).flatMap((kind) => {
    const named = found.get(kind)
    return named && !isEmpty(named.value) ? targetsOf(kind, named) : []
  }),
]

interface Parts {
  readonly found: Found
  readonly links: readonly Named[]
  readonly left: readonly string[]
  readonly own: ReturnType<typeof takingOwn>
}

const linkOf = ({ found, links, left, own }: Parts, place: Place, reading: Reading) => {
  const url = filledText(found.get('url'))
  if (url === undefined) throw new Unreadable(problem('required', { field: found.get('url')?.name ?? 'url' }))
  const filled = <T>(field: Field, read: (named: Named) => T) => {
    const named = found.get(field)
    return named && !isEmpty(named.value) && !isOpen(named.value) ? read(named) : undefined
  }
  const notes: string[] = []
  const end = found.get('expiry')
  const isEndless = end !== undefined && isNever(end.value)
  if (isEndless) notes.push('Its end, the last day of the year 9999, means that it has none.')
  /** Returns a value that an import may drop: without it, the link opens to no more visitors. */
  const optional = <T>(field: Field, read: (named: Named) => T) => {
    try {
      const named = found.get(field)
      return named && !isOpen(named.value) ? read(named) : undefined
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      notes.push(`Left out: ${sentenceOf(error.problem)}`)
      return undefined
    }
  }
  const targets = allTargets(found)
  const [password, tags] = [found.get('password'), found.get('tags')]
  const clicks = optional('clicks', countOf)
  const { imported, addresses, fields } = own.found()
  return defined({
    kind: 'link' as const,
    place,
    addresses: addressesIn(found, [...links, { name: 'addresses', value: addresses }], reading),
    url,
    title: own.isShown('title') ? undefined : filledText(found.get('title')),
    description: own.isShown('description') ? undefined : filledText(found.get('description')),
    tags: tags && !isBlank(tags.value) ? tagsOf(tags) : undefined,
    created: optional('created', (named) => timeOf(named, '00:00:00', reading)),
    expiry: isEndless ? undefined : timeOf(end, '23:59:59', reading),
    starts: timeOf(found.get('starts'), '00:00:00', reading),
    maxClicks: filled('maxClicks', countOf),
    archived: filled('archived', truthOf) || undefined,
    banned: filled('banned', truthOf) || undefined,
    password: password && password.value !== null ? passwordOf(password) : undefined,
    targets: targets.length > 0 ? targets : undefined,
    clicks,
    measured: imported > 0 && clicks !== undefined ? Math.max(0, clicks - imported) : undefined,
    uniques: optional('uniques', countOf),
    fields,
    notes: notes.length > 0 ? notes : undefined,
    left: left.length > 0 ? left : undefined,
  }) as SourceLink
}

const structures: ReadonlySet<Meaning['field']> = new Set(['device', 'location', 'language', 'tags', 'link'])
const isPlain = (field: Field, value: unknown) =>
  /^(?:device|location|language)$/.test(field) && typeof value !== 'object'

/** Values of a record by their names; `as` is the field that was chosen for a column. */
export type Values = readonly (Named & { readonly as?: Meaning })[]

/** Returns the link that a record describes, or the problem with it. */
export const readLink = (values: Values, place: Place, reading: Reading): SourceLink | SourceProblem => {
  const found = new Map<Field, Named & { readonly rank: number }>()
  const links: (Named & { readonly rank: number })[] = []
  const own = takingOwn(reading.format)
  const { left } = own
  for (const { name, value: given, as = fieldOf(name, reading.format) ?? { field: 'left', rank: 0 } } of values) {
    const { field, rank } = as
    if (own.take({ name, value: given }) || field === 'ignored') continue
    const value = structures.has(field) ? structured(given) : given
    if (field === 'left' || isPlain(field, value)) {
      if (!isEmpty(value)) left.push(name)
    } else if (field === 'link') {
      if (!isBlank(value)) links.push({ name, value, rank })
    } else {
      const other = found.get(field)
      const isBetter = !other || isBlank(other.value) || (rank < other.rank && !isBlank(value))
      const loser = isBetter ? other : { name, value }
      if (loser && !isEmpty(loser.value) && loser.value !== (isBetter ? value : other?.value)) left.push(loser.name)
      if (isBetter) found.set(field, { name, value, rank })
    }
  }
  try {
    links.sort((a, b) => a.rank - b.rank)
    return linkOf({ found, links, left, own }, place, reading)
  } catch (error) {
    if (error instanceof Unreadable) return { kind: 'problem', place, problem: error.problem }
    throw error
  }
}
