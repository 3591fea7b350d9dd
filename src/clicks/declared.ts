import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Classified } from '../events/statistics/click.ts'
import { importedRule } from '../events/statistics/visits.ts'
import { plainAddress } from '../lib/address.ts'
import { storable } from '../lib/storable.ts'
import { add, type Batch, emptyBatch, fits } from './batch.ts'
import type { Classify } from './classify.ts'
import type { VisitorHash } from './hashvisitor.ts'
import { rulesVersion } from './visitor/agent.ts'

/** A visit that another service has recorded. */
export interface VisitElsewhere {
  /** where it stands in its source: higher than that of the visit before it */
  readonly place: number
  /** the link of ours that it counts for, and where the link leads */
  readonly link: number
  readonly destination: string
  /** a time that `Date` can read */
  readonly at: string
  /** undefined where the source does not keep them: the visit is one of a person. Without one, a program has come. */
  readonly userAgent?: string | undefined
  readonly address?: string | undefined
  readonly referrer?: string | undefined
  /** ISO 3166-1 alpha-2; else the address says it */
  readonly country?: string | undefined
  /** as in `Accept-Language` */
  readonly language?: string | undefined
}

/** visits that are classified in one turn: each may have a user agent that was never seen */
const inOneTurn = 25
/** whether a text is a country: what is declared becomes a label in statistics, which all accounts share */
const isCountry = (text: string) => /^[a-z]{2}$/i.test(text)

/** Returns a visit as a click, classified as one that was followed here. */
export const classified = (
  classify: Classify,
  hash: VisitorHash,
  account: number,
  { link, destination, at, userAgent, address = '', referrer = '', country, language = '' }: VisitElsewhere,
): Classified => {
  const plain = plainAddress(address)
  const { bot, ...click } = classify(
    {
      at: new Date(at).toISOString(),
      account,
      link,
      revision: 0,
      destination: storable(destination),
      rule: importedRule,
      source: { kind: 'link', id: link },
      address: plain,
      agent: userAgent ?? '',
      referrer,
      languages: language,
      prefetch: false,
    },
    hash,
  )
  return {
    ...click,
    ...(userAgent === undefined ? { class: 'human' } : bot === undefined ? {} : { bot }),
    ...(country && isCountry(country) ? { country: country.toUpperCase() } : {}),
    ...(plain === '' ? { visitor: '' } : {}),
  }
}

/** Visits in the shape of one event, and the place of the last of them. */
export interface Part {
  readonly batch: Batch
  upTo: number
}

/** Returns visits in the shape of events. */
export const partsOf = async (
  visits: readonly VisitElsewhere[],
  toClick: (visit: VisitElsewhere) => Classified,
): Promise<readonly Part[]> => {
  const parts: Part[] = []
  for (const [i, visit] of visits.entries()) {
    if (i > 0 && i % inOneTurn === 0) await nextTurn()
    const click = toClick(visit)
    let part = parts.at(-1)
    if (!part || !fits(part.batch, { rules: rulesVersion, click })) {
      part = { batch: emptyBatch(rulesVersion), upTo: visit.place }
      parts.push(part)
    }
    add(part.batch, click)
    part.upTo = visit.place
  }
  return parts
}
