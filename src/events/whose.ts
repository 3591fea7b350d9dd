/** The data subject of a field. */
export type Subject = 'owner' | 'visitor' | 'reporter' | 'operator' | 'nobody'

/** What stays readable in the log after an erasure, and why. */
export const open = {
  address: 'addresses of links, pages, QR codes and campaigns, and hosts of branded domains: they stay reserved',
  destination:
    'destinations, also those that rules, variants, splash pages and overlays lead to, and apps that open addresses of a domain',
  parameter: 'parameters that links add to their destinations',
  rule: 'countries, devices, browsers and languages of rules, and tags that a webhook is limited to: they decide what is sent where',
  exclusion: 'what an account left out of its statistics: counts follow from it',
  visit:
    'visits: time, country, languages, browser, referrer, medium and a hash of the visitor, whose key is destroyed',
  hash: 'hashes of recovery codes, of logos, and of e-mail addresses that invitations were sent to, with a key',
  report: 'what was reported, when and why, without the words of who reported it',
  operator: 'what operators wrote: reasons of blocks, and their own names',
} as const
export type Open = keyof typeof open

/**
 * The data subject of a field, and how the log stores it: sealed under the key of the account, under a key of its own,
 * or open. `nobody`: numbers, times, states and random tokens are about no person.
 */
export type Entry =
  | { readonly of: 'nobody' }
  | { readonly of: Exclude<Subject, 'nobody'>; readonly as: 'sealed' | 'sealed alone' }
  | { readonly of: Exclude<Subject, 'nobody'>; readonly as: 'open'; readonly what: Open }
