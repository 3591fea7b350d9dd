import type { Classified } from '../events/click.ts'
import type { Visit } from './visit.ts'
import { agentLimit, readAgent } from '../visitor/agent.ts'
import { plainAddress } from '../visitor/country.ts'
import { preferredLanguages } from '../visitor/language.ts'
import { referrerHost } from '../visitor/referrer.ts'

export interface Classifier {
  readonly countryOf: (address: string) => string
  readonly isOurs: (host: string) => boolean
  /** keyed hash under the account's key: 64 bits, hex */
  readonly hash: (account: number, text: string) => string
}

/** Makes a click of a visit. Address and user agent end here: what comes out holds nothing personal. */
export const classifier =
  ({ countryOf, isOurs, hash }: Classifier) =>
  (visit: Visit): Classified => {
    const { at, account, link, revision, destination, rule, source } = visit
    const agent = readAgent(visit.agent)
    const address = plainAddress(visit.address) || visit.address
    return {
      at,
      account,
      link,
      revision,
      destination,
      rule,
      source,
      country: countryOf(address),
      language: preferredLanguages(visit.languages)[0] ?? '',
      referrer: referrerHost(visit.referrer, isOurs),
      browser: agent.browser,
      os: agent.os,
      device: agent.device,
      // a bot that fetches ahead keeps its token
      class: visit.prefetch ? 'prefetch' : agent.class,
      ...(agent.bot === undefined ? {} : { bot: agent.bot }),
      agent: agent.words,
      visitor: hash(account, `${address}\n${visit.agent.slice(0, agentLimit)}`),
    }
  }
