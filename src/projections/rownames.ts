import { kinds, resourceKinds } from '../events/kinds.ts'
import { nameOfResource, nameOfStream } from '../events/naming.ts'
import { clickId, type Ordinals } from '../events/ordinals.ts'
import { indexOf, minuteMs, positionOf, subjects, visited } from './statistics/clickfacts.ts'
import { dims } from './statistics/labels.ts'

/** The columns of a key, as text. */
export type Key = Readonly<Record<string, string>>
type Find = Pick<Ordinals, 'of'>
type NameColumn = (value: string, ordinals: Find) => string | undefined | Promise<string | undefined>

/** Resources without a kind of stream of their own, by their table. */
const others: Readonly<Record<string, string>> = { answers: 'answer', blocks: 'block', reports: 'report' }

const nameId = (table: string, id: string) => {
  const of = table.replace(/^past_/, '')
  const kind = resourceKinds.find((one) => kinds[one].table === of)
  return kind === undefined ? others[of] && `${others[of]} ${id}` : nameOfResource(kind, id)
}

/** Names the subject of statistics: see `subjects`. */
const nameSubject = (value: string): string => {
  const subject = Number(value)
  if (Number.isNaN(subject)) return nameOfStream(value)
  const account = subjects.account(0) - subject
  if (account >= 0) return nameOfResource('account', account)!
  const { of, id } = visited(subject)
  return of === 'view' ? `the views of ${nameOfResource('bio', id)}` : nameOfResource(of, id)!
}

const ordinalAt = async (position: bigint, ordinals: Find) => (await ordinals.of([position])).get(position)

const nameClick = async (value: string, ordinals: Find) => {
  const seq = BigInt(value)
  const ordinal = await ordinalAt(positionOf(seq), ordinals)
  return ordinal === undefined ? undefined : `click ${clickId(ordinal, indexOf(seq))}`
}

const nameEvent = async (value: string, ordinals: Find) => {
  const ordinal = await ordinalAt(BigInt(value), ordinals)
  return ordinal === undefined ? undefined : `event ${ordinal}`
}

const timeOf = (minutes: number) => new Date(minutes * minuteMs).toISOString()
const nameOfDim = (value: string) => Object.entries(dims).find(([, number]) => String(number) === value)?.[0]

/** How to name the columns of keys, in any table. */
const columns: Readonly<Record<string, NameColumn>> = {
  account: (value) => nameOfResource('account', value),
  bio: (value) => nameOfResource('bio', value),
  channel: (value) => nameOfResource('channel', value),
  day: (value) => timeOf(Number(value) * 1440).slice(0, 10),
  dim: nameOfDim,
  entry: (value) => `entry ${value}`,
  holder: nameOfStream,
  hour: (value) => timeOf(Number(value) * 60),
  link: nameSubject,
  minute: (value) => timeOf(Number(value)),
  overlay: (value) => nameOfResource('overlay', value),
  position: nameEvent,
  revision: (value) => `revision ${value}`,
  seq: nameClick,
  since: async (value, ordinals) => {
    const event = await nameEvent(value, ordinals)
    return event && `as it was from ${event} on`
  },
  subject: nameSubject,
  visitor: (value) => `visitor ${BigInt.asUintN(64, BigInt(value)).toString(16)}`,
}

const shown = (value: string) => (value.length > 60 ? `${value.slice(0, 60)}…` : value)

/** Names a row of a read table by its key, as users know it: `link 12`, `click 123456-17`. */
export const nameOfRow = async (table: string, key: Key, ordinals: Find): Promise<string> => {
  const names = await Promise.all(
    Object.entries(key).map(async ([name, value]) => {
      const said = name === 'id' ? nameId(table, value) : await columns[name]?.(value, ordinals)
      return said ?? `${name} = ${shown(value)}`
    }),
  )
  const isKnown = !names[0]?.includes(' = ')
  return `${isKnown ? 'the row of' : 'the row'} ${names.join(', ')}`
}
