import { createHash } from 'node:crypto'
import { problem } from '../lib/problems/problem.ts'
import { type SourceAddress, type SourceLink, type SourceRecord, UnreadableSource } from './records.ts'

/** what is kept of visits in memory: addresses, and characters of the name of one */
const most = { addresses: 1_000_000, characters: 64 } as const

/** Names an address in the source; a long one by its hash. */
export const addressName = ({ host = '', alias }: Pick<SourceAddress, 'host' | 'alias'>): string => {
  const name = `${host}/${alias}`
  return name.length <= most.characters ? name : createHash('sha256').update(name).digest('base64')
}

/** What a source has, by a first look at all of it. */
export interface Survey {
  readonly visits: number
  /** single visits of each address */
  readonly visitsOf: ReadonlyMap<string, number>
}

/** Reads all of a source before anything is created of it. Throws `UnreadableSource`. */
export const survey = async (records: AsyncIterable<SourceRecord>): Promise<Survey> => {
  const visitsOf = new Map<string, number>()
  let visits = 0
  for await (const record of records) {
    if (record.kind !== 'visit') continue
    visits++
    const name = addressName(record)
    visitsOf.set(name, (visitsOf.get(name) ?? 0) + 1)
    if (visitsOf.size > most.addresses)
      throw new UnreadableSource(problem('too_many', { what: 'addresses', max: most.addresses }))
  }
  return { visits, visitsOf }
}

/** Returns how many single visits a link has in its source. */
export const visitsOfLink = ({ addresses }: SourceLink, visitsOf: Survey['visitsOf']): number =>
  addresses.reduce((sum, address) => sum + (visitsOf.get(addressName(address)) ?? 0), 0)
