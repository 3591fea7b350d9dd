import { account } from './core/session.ts'
import type { StartTexts } from './texts/texts.ts'
import type { IconName } from './parts/icon.tsx'

/** An entry of the navigation. */
export interface Place {
  readonly path: string
  readonly name: (texts: StartTexts) => string
  readonly icon: IconName
  /** whether a phone has it in its bar; the others are under "More" there */
  readonly onPhone?: boolean
  /** whether a line is drawn before it */
  readonly startsGroup?: boolean
  /** whether it is for operators of the service only */
  readonly operator?: boolean
}

/** The navigation, in its order. A screen that is added to `routes.ts` gets its entry here. */
const places: readonly Place[] = [
  { path: '/', name: ({ nav }) => nav.overview, icon: 'overview', onPhone: true },
  { path: '/links', name: ({ nav }) => nav.links, icon: 'link', onPhone: true },
  { path: '/qr', name: ({ nav }) => nav.qr, icon: 'qr', onPhone: true },
  { path: '/bio', name: ({ nav }) => nav.bio, icon: 'page' },
  { path: '/campaigns', name: ({ nav }) => nav.campaigns, icon: 'campaign', startsGroup: true },
  { path: '/channels', name: ({ nav }) => nav.channels, icon: 'channel' },
  { path: '/splash', name: ({ nav }) => nav.splash, icon: 'splash', startsGroup: true },
  { path: '/overlays', name: ({ nav }) => nav.overlays, icon: 'overlay' },
  { path: '/pixels', name: ({ nav }) => nav.pixels, icon: 'pixel' },
  { path: '/domains', name: ({ nav }) => nav.domains, icon: 'domain' },
  { path: '/keys', name: ({ nav }) => nav.keys, icon: 'key', startsGroup: true },
  { path: '/webhooks', name: ({ nav }) => nav.webhooks, icon: 'hook' },
  { path: '/history', name: ({ nav }) => nav.history, icon: 'history', startsGroup: true },
  { path: '/proof', name: ({ nav }) => nav.proof, icon: 'proof' },
  { path: '/account', name: ({ nav }) => nav.account, icon: 'settings', startsGroup: true },
  { path: '/operator', name: ({ nav }) => nav.operator, icon: 'shield', operator: true },
]

/** Returns the places of the account that is signed in. */
export const ownPlaces = (): readonly Place[] =>
  places.filter(({ operator }) => !operator || account.value?.operator === true)
