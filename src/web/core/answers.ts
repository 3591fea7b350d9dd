/** What the API answers, as far as the dashboard reads it. */

export interface Series {
  readonly data: {
    readonly total: { readonly clicks: number; readonly uniqueClicks: number; readonly visits: number }
    readonly series: readonly { readonly at: string; readonly clicks: number; readonly uniqueClicks: number }[]
    readonly by: Readonly<Record<string, Readonly<Record<string, number>>>>
  }
}

interface Counted {
  readonly clicks: number
  readonly uniqueClicks: number
  readonly visits: number
}
export interface StatsTime {
  readonly total: Counted
  readonly series: readonly (Counted & { readonly at: string })[]
}
/** A value of a dimension: `value` is what a filter takes. */
export interface StatsRow {
  readonly value: string
  readonly name: string
  readonly count: number
}
/** The answer of `GET /api/stats`. */
export interface Stats {
  readonly data: StatsTime & {
    readonly by: Readonly<Record<string, readonly StatsRow[]>>
    readonly before?: StatsTime | null
    readonly through: { readonly event: number | null; readonly at: string | null; readonly behind: number | null }
  }
}

/** A line of the stream of clicks. */
export interface ClickLine {
  readonly id: string
  readonly at: string
  readonly link: number
  readonly rule: string
  readonly source: { readonly kind: string; readonly id: number }
  readonly country: string
  readonly language: string
  readonly referrer: string
  readonly browser: { readonly family: string }
  readonly os: { readonly family: string }
  readonly device: string
  readonly class: string
}

export interface LinkRow {
  readonly id: number
  readonly alias: string
  readonly shorturl: string
  readonly longurl: string
  readonly clicks: number
  readonly uniqueclicks: number
  readonly title: string
  readonly date: string
  readonly tags: readonly string[]
  readonly archived: boolean
  readonly status: 'active' | 'scheduled' | 'expired' | 'protected' | 'blocked'
}

type Targets = Readonly<Record<string, string>>
export interface Pair {
  readonly name: string
  readonly value: string
}
export interface Variant {
  readonly id?: number
  readonly url: string
  readonly weight: number
}

export interface LinkDetails {
  readonly id: number
  readonly shorturl: string
  readonly longurl: string
  readonly title: string
  readonly description: string
  readonly location: Targets
  readonly device: Targets
  readonly language: Targets
  readonly expiry: string | null
  readonly starts: string | null
  readonly date: string
  readonly alias: string
  readonly type: string
  readonly domain: string
  readonly parameters: readonly Pair[]
  readonly metatitle: string
  readonly metadescription: string
  readonly metaimage: string
  readonly campaign: number | null
  readonly channels: readonly number[]
  readonly pixels: readonly number[]
  readonly password: boolean
  readonly tags: readonly string[]
  readonly notes: string
  readonly archived: boolean
  readonly expired_url: string
  readonly max_clicks: number | null
  readonly forward: boolean
  readonly variants: readonly Variant[]
  readonly revision: number
}
export interface LinkAnswer {
  readonly details: LinkDetails
  readonly data: { readonly clicks: number; readonly uniqueClicks: number }
}

export interface Page {
  /** number of all matches */
  readonly result: number
  readonly perpage: number
  readonly currentpage: number
  readonly maxpage: number
  readonly next_cursor?: string
}
/** A list, by the name of its collection. */
export type List<N extends string, R> = { readonly data: Page & { readonly [K in N]: readonly R[] } }

export type Links = List<'urls', LinkRow>
export type Tags = List<'tags', { readonly tag: string; readonly links: number }>
export type Campaigns = List<'campaigns', { readonly id: number; readonly name: string }>
export type Channels = List<'channels', { readonly id: number; readonly name: string }>
export type Domains = List<'domains', { readonly id: number; readonly domain: string; readonly status?: string }>

export interface QrRow {
  readonly id: number
  readonly link: string
  readonly scans: number
  readonly name: string
  readonly date: string
}
export type Qrs = List<'qrs', QrRow>
export type QrType = 'text' | 'vcard' | 'link' | 'email' | 'phone' | 'sms' | 'wifi'
export interface QrAnswer {
  readonly details: QrRow & {
    readonly type: QrType
    readonly data: string | Readonly<Record<string, string>>
    readonly foreground: string
    readonly background: string
    readonly logo: boolean
  }
}

export interface Change {
  readonly field: string
  readonly old: unknown
  readonly new: unknown
}
export interface HistoryEvent {
  /** null for a moment, until it has a number */
  readonly event: number | null
  readonly revision: number
  readonly time: string
  readonly actor: { readonly kind: string; readonly key?: number; readonly name?: string }
  readonly type: string
  readonly message: string
  readonly resource: { readonly type: string; readonly id: number }
  readonly changes: readonly Change[]
}
export type History = List<'events', HistoryEvent>

export interface Revision {
  readonly revision: number
  readonly event: number | null
  readonly from: string
  readonly until: string
  readonly clicks: number
  readonly sent: readonly { readonly rule: string; readonly destination: string; readonly clicks: number }[]
}
export type Revisions = List<'revisions', Revision>

export interface ProofState {
  readonly key: string
  readonly events: number
  readonly checkpoint: { readonly events: number; readonly note: string; readonly at: string } | null
  readonly verified: { readonly events: number; readonly at: string } | null
}
