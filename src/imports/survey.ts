import type { SourceAddress, SourceLink, SourceRecord } from './records.ts'

/** Names an address in the source. */
export const addressName = ({ host = '', alias }: Pick<SourceAddress, 'host' | 'alias'>): string => `${host}/${alias}`

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
  }
  return { visits, visitsOf }
}

/** Returns how many single visits a link has in its source. */
export const visitsOfLink = ({ addresses }: SourceLink, visitsOf: Survey['visitsOf']): number =>
  addresses.reduce((sum, address) => sum + (visitsOf.get(addressName(address)) ?? 0), 0)
