import type { LinkDetails } from '../../../../http/links/contract/link.ts'
import { type Rule, rulesOf } from './rules.ts'
import { fieldOf, moment, momentIn, stamp } from '../../../core/time.ts'

/** A variant has no id before it is stored. */
type Variant = Omit<LinkDetails['variants'][number], 'id'> & { readonly id?: number }
/** A link as its form has it: everything is text, until it is sent. */
export interface Draft {
  readonly url: string
  readonly domain: string
  readonly custom: string
  readonly rules: readonly Rule[]
  readonly variants: readonly Variant[]
  readonly starts: string
  readonly expiry: string
  readonly max_clicks: string
  readonly expired_url: string
  readonly title: string
  readonly description: string
  readonly campaign: string
  readonly channel: string
  readonly tags: string
  readonly notes: string
  readonly password: string
  readonly removePassword: boolean
  readonly metatitle: string
  readonly metadescription: string
  readonly metaimage: string
  readonly type: string
  readonly parameters: LinkDetails['parameters']
  readonly forward: LinkDetails['forward']
  readonly pixels: readonly number[]
}

export const blank: Draft = {
  url: '',
  domain: '',
  custom: '',
  rules: [],
  variants: [],
  starts: '',
  expiry: '',
  max_clicks: '',
  expired_url: '',
  title: '',
  description: '',
  campaign: '',
  channel: '',
  tags: '',
  notes: '',
  password: '',
  removePassword: false,
  metatitle: '',
  metadescription: '',
  metaimage: '',
  type: 'direct',
  parameters: [],
  forward: false,
  pixels: [],
}

/** `2030-01-31 18:00:00` as a field for a date and a time has it */
const local = (time: string | null) => (time === null ? '' : fieldOf(moment(time)))

/** Returns the form of a link that there is. `base` is the address of the service. */
export const draftOf = (link: LinkDetails, base: string): Draft => ({
  url: link.longurl,
  domain: link.domain === base ? '' : link.domain,
  custom: link.alias,
  rules: rulesOf(link),
  variants: link.variants,
  starts: local(link.starts),
  expiry: local(link.expiry),
  max_clicks: link.max_clicks === null ? '' : String(link.max_clicks),
  expired_url: link.expired_url,
  title: link.title === link.metatitle ? '' : link.title,
  description: link.description === link.metadescription ? '' : link.description,
  campaign: link.campaign === null ? '' : String(link.campaign),
  channel: link.channels[0] === undefined ? '' : String(link.channels[0]),
  tags: link.tags.join(', '),
  notes: link.notes,
  password: '',
  removePassword: false,
  metatitle: link.metatitle,
  metadescription: link.metadescription,
  metaimage: link.metaimage,
  type: link.type,
  parameters: link.parameters,
  forward: link.forward,
  pixels: link.pixels,
})

/**
 * Returns the form of a new link at an address, with all that another one has: an end or a rule that was left out would
 * open what its owner has limited. Only its password cannot be read.
 */
export const copyOf = (link: LinkDetails, base: string, at: Pick<Draft, 'custom' | 'domain'>): Draft => ({
  ...draftOf(link, base),
  ...at,
  variants: link.variants.map(({ url, weight }) => ({ url, weight })),
})

const time = (value: string) => (value === '' ? null : stamp(momentIn(value)))
const idOrNone = (value: string) => (value === '' ? null : Number(value))
const filled = (rules: readonly Rule[]) => rules.filter(({ value, url }) => value !== '' || url !== '')

/** How the API names a field, and its value. What is here and differs is sent. */
const sentAs: { readonly [K in keyof Draft]?: (draft: Draft) => Readonly<Record<string, unknown>> } = {
  domain: ({ domain }) => ({ domain }),
  custom: ({ custom }) => ({ custom: custom.trim() }),
  rules: ({ rules }) => {
    const of = (kind: Rule['kind'], name: string) =>
      filled(rules)
        .filter((rule) => rule.kind === kind)
        .map(({ value, url }) => ({ [name]: value, link: url }))
    return {
      devicetarget: of('device', 'device'),
      browsertarget: of('browser', 'browser'),
      geotarget: of('country', 'location'),
      languagetarget: of('language', 'language'),
    }
  },
  variants: ({ variants }) => ({ variants }),
  starts: ({ starts }) => ({ starts: time(starts) }),
  expiry: ({ expiry }) => ({ expiry: time(expiry) }),
  max_clicks: ({ max_clicks }) => ({ max_clicks: max_clicks === '' ? null : max_clicks }),
  expired_url: ({ expired_url }) => ({ expired_url }),
  title: ({ title }) => ({ title }),
  description: ({ description }) => ({ description }),
  campaign: ({ campaign }) => ({ campaign: idOrNone(campaign) }),
  channel: ({ channel }) => ({ channel: idOrNone(channel) }),
  tags: ({ tags }) => ({
    tags: tags
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  }),
  notes: ({ notes }) => ({ notes }),
  metatitle: ({ metatitle }) => ({ metatitle }),
  metadescription: ({ metadescription }) => ({ metadescription }),
  metaimage: ({ metaimage }) => ({ metaimage }),
  type: ({ type }) => ({ type }),
  parameters: ({ parameters }) => ({ parameters: parameters.filter(({ name }) => name !== '') }),
  forward: ({ forward }) => ({ forward }),
  pixels: ({ pixels }) => ({ pixels }),
}

/** Returns the body of the request that stores a form: the destination, and all that differs from before. */
export const bodyOf = (draft: Draft, before: Draft): Readonly<Record<string, unknown>> => {
  const changed = Object.entries(sentAs).flatMap(([name, send]) => {
    const [now, then] = [draft[name as keyof Draft], before[name as keyof Draft]]
    return JSON.stringify(now) === JSON.stringify(then) ? [] : Object.entries(send(draft))
  })
  const password = draft.removePassword ? { password: '' } : draft.password === '' ? {} : { password: draft.password }
  return { url: draft.url.trim(), ...Object.fromEntries(changed), ...password }
}

/** Texts that nothing decides by, in the part of the form that shows them, with the lines that each has at first. */
export const texts = {
  organize: { title: 1, description: 1, notes: 3 },
  preview: { metatitle: 1, metadescription: 2, metaimage: 1 },
} as const
type Texts = typeof texts
export type PlainText = keyof Texts['organize'] | keyof Texts['preview']
const textNames = <G extends keyof Texts>(group: G) => Object.keys(texts[group]) as (keyof Texts[G] & PlainText)[]

/** The parts of the form that can be folded, and the fields of the API that each has. */
export const groups = {
  rules: ['geotarget', 'devicetarget', 'browsertarget', 'languagetarget'],
  split: ['variants'],
  schedule: ['starts', 'expiry', 'max_clicks', 'expired_url'],
  organize: ['campaign', 'channel', 'tags', ...textNames('organize')],
  password: ['password'],
  preview: textNames('preview'),
  redirect: ['type', 'parameters', 'forward', 'pixels'],
} as const
export type Group = keyof typeof groups

/** Returns the part of the form that has a field of the API; undefined for those that are always shown. */
export const groupOf = (field: string | undefined): Group | undefined =>
  (Object.keys(groups) as Group[]).find((group) => groups[group].some((one) => one === field))

/** Whether a part of the form has anything that is not as in a new link. */
export const hasContent = (group: Group, draft: Draft): boolean => {
  const differs = (...names: readonly (keyof Draft)[]) =>
    names.some((name) => JSON.stringify(draft[name]) !== JSON.stringify(blank[name]))
  switch (group) {
    case 'rules':
      return differs('rules')
    case 'split':
      return differs('variants')
    case 'schedule':
      return differs('starts', 'expiry', 'max_clicks', 'expired_url')
    case 'organize':
      return differs(...groups.organize)
    case 'password':
      return false
    case 'preview':
      return differs(...groups.preview)
    case 'redirect':
      return differs('type', 'parameters', 'forward', 'pixels')
  }
}
