import type { Account } from '../http/accounts/contract/account.ts'
import type { Kinds, ResourceKind } from '../events/kinds.ts'
import type { StartTexts } from './texts/texts.ts'
import type { IconName } from './parts/icon.tsx'

/** An entry of the navigation. */
export interface Place {
  readonly path: string
  /** the kind of resource that it lists, as in the paths of the API; a screen below it shows one */
  readonly of?: Kinds[ResourceKind]['path']
  readonly name: keyof StartTexts['nav']
  readonly icon: IconName
  /** whether it is in the bar on a phone; others are under "More" there */
  readonly onPhone?: boolean
  /** whether a line is drawn before it */
  readonly startsGroup?: boolean
  /** whether only operators of the service see it */
  readonly operator?: boolean
  /** whether only members who manage or audit the account see it */
  readonly managers?: boolean
  /** whether only accounts with approvals have it */
  readonly guarded?: boolean
}

/** The navigation, in its order. A screen that is added to `routes.ts` gets its entry here. */
export const places: readonly Place[] = [
  { path: '/', name: 'overview', icon: 'overview', onPhone: true },
  { path: '/links', of: 'url', name: 'links', icon: 'link', onPhone: true },
  { path: '/qr', of: 'qr', name: 'qr', icon: 'qr', onPhone: true },
  { path: '/bio', of: 'bio', name: 'bio', icon: 'bio' },
  { path: '/campaigns', of: 'campaign', name: 'campaigns', icon: 'campaign', startsGroup: true },
  { path: '/channels', of: 'channel', name: 'channels', icon: 'channel' },
  { path: '/splash', of: 'splash', name: 'splash', icon: 'splash', startsGroup: true },
  { path: '/overlays', of: 'overlay', name: 'overlays', icon: 'overlay' },
  { path: '/pixels', name: 'pixels', icon: 'pixel' },
  { path: '/domains', of: 'domain', name: 'domains', icon: 'domain' },
  { path: '/keys', name: 'keys', icon: 'key', startsGroup: true, managers: true },
  { path: '/members', name: 'members', icon: 'person', managers: true },
  { path: '/approvals', name: 'approvals', icon: 'check', guarded: true },
  { path: '/webhooks', of: 'webhook', name: 'webhooks', icon: 'webhook', managers: true },
  { path: '/history', name: 'history', icon: 'history', startsGroup: true, managers: true },
  { path: '/proof', name: 'proof', icon: 'proof' },
  { path: '/account', name: 'account', icon: 'settings', startsGroup: true },
  { path: '/operator', name: 'operator', icon: 'shield', operator: true },
]

const isManager = (role: string) => ['owner', 'admin', 'auditor'].includes(role)

/** Returns the entries for a signed-in member, by their role; `isGuarded`: the account approves changes. */
export const placesOf = (
  account: Pick<Account, 'operator'> | null | undefined,
  role: string,
  isGuarded: boolean,
): readonly Place[] =>
  places.filter(
    ({ operator, managers, guarded }) =>
      (!operator || account?.operator) && (!managers || isManager(role)) && (!guarded || isGuarded),
  )
