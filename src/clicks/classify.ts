import type { Classified } from '../events/statistics/click.ts'
import { agentLimit, readAgent } from './visitor/agent.ts'
import { plainAddress } from '../lib/address.ts'
import { modelsIn } from './visitor/device.ts'
import { preferredLanguages, primaryLanguage } from './visitor/language.ts'
import { mediumOf } from './visitor/medium.ts'
import { fitOf } from './visitor/range.ts'
import { referrerHost } from './visitor/referrer.ts'
import type { Visit } from './visit.ts'
import type { VisitorHash } from './hashvisitor.ts'

export interface ClassifierOptions {
  /** ISO 3166-1 alpha-2 of an IP address, `` when unknown */
  readonly countryOf: (address: string) => string
  /** whether a referring host is this service */
  readonly isOurHost: (host: string) => boolean
}

/**
 * Browsers send a handful of languages; more would help to recognise a visitor, not to explain where a visit was sent.
 */
const mostLanguages = 5

/** Returns the languages that a click keeps: with `*` for those that are left out, and the one that decided. */
const keptLanguages = (languages: readonly string[], rule: string): readonly string[] => {
  if (languages.length <= mostLanguages) return languages
  const [, chosen] = /^language:(.*)$/s.exec(rule) ?? []
  const decided = chosen === undefined ? -1 : languages.findIndex((one) => fitOf(chosen, one) !== undefined)
  return [
    ...languages.slice(0, mostLanguages),
    '*',
    ...languages.slice(mostLanguages).filter((_, i) => i + mostLanguages === decided),
  ]
}

/** Returns the models of a user agent, unless its words, which a click keeps, name the same. */
const keptModels = (agent: string, words: string): Pick<Classified, 'models'> => {
  const [models, seen] = [modelsIn(agent), modelsIn(words)]
  return models.join() === seen.join() ? {} : { models: [...models] }
}

export type Classify = (visit: Visit, hash: VisitorHash) => Classified

/** Turns a visit into a click. Address and user agent end here: the click holds nothing personal. */
export const createClassifier =
  ({ countryOf, isOurHost }: ClassifierOptions): Classify =>
  (visit, hash) => {
    const { at, account, link, revision, destination, rule, source, place } = visit
    const agent = readAgent(visit.agent)
    const languages = preferredLanguages(visit.languages)
    const address = plainAddress(visit.address) || visit.address
    const referrer = referrerHost(visit.referrer, isOurHost)
    return {
      at,
      account,
      link,
      revision,
      destination,
      rule,
      source,
      ...(place !== undefined && { address: place }),
      country: countryOf(address),
      language: primaryLanguage(languages[0] ?? ''),
      languages: keptLanguages(languages, rule),
      referrer,
      medium: mediumOf({ referrer, asked: visit.asked, agent: visit.agent, destination }),
      browser: agent.browser,
      os: agent.os,
      device: agent.device,
      ...keptModels(visit.agent, agent.words),
      // a prefetching bot is a prefetch; `bot` still names it
      class: visit.prefetch ? 'prefetch' : agent.class,
      ...(agent.bot === undefined ? {} : { bot: agent.bot }),
      agent: agent.words,
      visitor: hash(account, `${address}\n${visit.agent.slice(0, agentLimit)}`),
    }
  }
