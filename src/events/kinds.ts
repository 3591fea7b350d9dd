/**
 * What an account has: what every layer knows of a kind of resource. It imports nothing, so that every folder can use
 * it.
 */
interface Kind {
  /** as in the paths of the API, and as its histories name it */
  readonly path: string
  /** as in the sentences of the API */
  readonly label: string
  /** likewise, several of them */
  readonly many: string
  /** its read table, and the projection that fills it */
  readonly table: string
  /** kinds of streams of parts of it, which are in its history */
  readonly parts?: readonly string[]
  /** kinds of unique names that it claims */
  readonly names?: readonly string[]
  /** whether a link can name one */
  readonly inLinks?: true
  /** whether redirects keep it in memory */
  readonly cached?: true
  /** whether its row is kept when it is deleted, so that it can be restored */
  readonly kept: boolean
  /** keys that may read the events in its streams: all that may read, or those with the scope `account` */
  readonly shown: 'read' | 'account'
  /** the screen of the dashboard that shows one, or all where one has none of its own */
  readonly screen: string
  /** the path of its list in the API. An account is in no account. */
  readonly list?: string
  /** whether the API shows more of one than its list does */
  readonly details?: true
  /** how many an account may have */
  readonly quota?: { readonly setting: `QUOTA_${string}`; readonly otherwise: number; readonly of?: string }
}

/** Every kind of resource, by the kind of its streams. Each has ids of its own. */
export const kinds = {
  link: {
    path: 'url',
    label: 'Link',
    many: 'links',
    table: 'links',
    names: ['alias'],
    cached: true,
    kept: true,
    shown: 'read',
    screen: '/links/:id',
    list: '/api/urls',
    details: true,
    quota: { setting: 'QUOTA_LINKS', otherwise: 1_000_000 },
  },
  qr: {
    path: 'qr',
    label: 'QR code',
    many: 'QR codes',
    table: 'qrs',
    names: ['qr'],
    cached: true,
    kept: true,
    shown: 'read',
    screen: '/qr/:id',
    list: '/api/qr',
    details: true,
    quota: { setting: 'QUOTA_QR_CODES', otherwise: 100_000 },
  },
  domain: {
    path: 'domain',
    label: 'Domain',
    many: 'domains',
    table: 'domains',
    inLinks: true,
    names: ['host'],
    cached: true,
    kept: true,
    shown: 'read',
    screen: '/domains/:id',
    list: '/api/domains',
    details: true,
    quota: { setting: 'QUOTA_DOMAINS', otherwise: 1000, of: 'branded domains' },
  },
  pixel: {
    path: 'pixel',
    label: 'Pixel',
    many: 'pixels',
    table: 'pixels',
    inLinks: true,
    cached: true,
    kept: true,
    shown: 'read',
    screen: '/pixels',
    list: '/api/pixels',
    quota: { setting: 'QUOTA_PIXELS', otherwise: 10_000 },
  },
  campaign: {
    path: 'campaign',
    label: 'Campaign',
    many: 'campaigns',
    table: 'campaigns',
    inLinks: true,
    names: ['slug'],
    kept: true,
    shown: 'read',
    screen: '/campaigns/:id',
    list: '/api/campaigns',
    quota: { setting: 'QUOTA_CAMPAIGNS', otherwise: 10_000 },
  },
  channel: {
    path: 'channel',
    label: 'Channel',
    many: 'channels',
    table: 'channels',
    inLinks: true,
    parts: ['channelitem'],
    kept: true,
    shown: 'read',
    screen: '/channels/:id',
    list: '/api/channels',
    quota: { setting: 'QUOTA_CHANNELS', otherwise: 10_000 },
  },
  overlay: {
    path: 'overlay',
    label: 'CTA overlay',
    many: 'overlays',
    table: 'overlays',
    inLinks: true,
    parts: ['answer'],
    cached: true,
    kept: true,
    shown: 'read',
    screen: '/overlays/:id',
    list: '/api/overlay',
    details: true,
    quota: { setting: 'QUOTA_OVERLAYS', otherwise: 10_000 },
  },
  splash: {
    path: 'splash',
    label: 'Splash page',
    many: 'splash pages',
    table: 'splashes',
    inLinks: true,
    cached: true,
    kept: true,
    shown: 'read',
    screen: '/splash/:id',
    list: '/api/splash',
    details: true,
    quota: { setting: 'QUOTA_SPLASH_PAGES', otherwise: 10_000 },
  },
  bio: {
    path: 'bio',
    label: 'Bio page',
    many: 'bio pages',
    table: 'bios',
    names: ['alias'],
    cached: true,
    kept: true,
    shown: 'read',
    screen: '/bio/:id',
    list: '/api/bio',
    details: true,
    quota: { setting: 'QUOTA_BIO_PAGES', otherwise: 10_000 },
  },
  webhook: {
    path: 'webhook',
    label: 'Webhook',
    many: 'webhooks',
    table: 'webhooks',
    kept: false,
    // the address of a receiver often has a password in it
    shown: 'account',
    screen: '/webhooks/:id',
    list: '/api/webhooks',
    quota: { setting: 'QUOTA_WEBHOOKS', otherwise: 20 },
  },
  account: {
    path: 'account',
    label: 'Account',
    many: 'account',
    table: 'accounts',
    names: ['email', 'username'],
    parts: ['team', 'approval'],
    cached: true,
    kept: false,
    shown: 'account',
    screen: '/account',
  },
} as const satisfies Readonly<Record<string, Kind>>

export type Kinds = typeof kinds
export type ResourceKind = keyof Kinds
/** Kinds of which an account may have several. */
export type OwnedKind = Exclude<ResourceKind, 'account'>
/** Kinds of which a deleted one can be restored. */
export type KeptKind = KindWith<{ readonly kept: true }>
/** Kinds that claim a unique name. */
export type NamedKind = KindWith<{ readonly names: readonly string[] }>
/** Kinds that a link can name. */
export type LinkedKind = KindWith<{ readonly inLinks: true }>
type KindWith<P> = { [K in ResourceKind]: Kinds[K] extends P ? K : never }[ResourceKind]

export const resourceKinds = Object.keys(kinds) as readonly ResourceKind[]
export const isOwned = (kind: ResourceKind): kind is OwnedKind => kind !== 'account'
export const ownedKinds = resourceKinds.filter(isOwned)
export const keptKinds = resourceKinds.filter((kind): kind is KeptKind => kinds[kind].kept)
export const isNamed = (kind: string): kind is NamedKind => isResource(kind) && 'names' in kinds[kind]

export const cachedKinds = resourceKinds.filter((kind) => 'cached' in kinds[kind])

/** Returns an object that has something for each of some kinds. */
export const everyKind = <K extends ResourceKind, T>(
  some: readonly K[],
  make: (kind: K) => T,
): Readonly<Record<K, T>> => Object.fromEntries(some.map((kind) => [kind, make(kind)])) as Record<K, T>

/** Returns whether a kind of stream has resources. */
export const isResource = (stream: string): stream is ResourceKind => Object.hasOwn(kinds, stream)

/** Returns what is known of a kind of stream; undefined when it has no resources. */
export const kindOf = (stream: string): Kind | undefined => (isResource(stream) ? kinds[stream] : undefined)

/** Returns the kind of resource that has a path in the API. */
export const kindAt = (path: string): ResourceKind | undefined =>
  resourceKinds.find((kind) => kinds[kind].path === path)
