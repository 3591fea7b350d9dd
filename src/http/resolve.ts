import type { Target } from '../queries/target.ts'

/** Where a visitor is sent; `rule` says which rule chose it, and stands in the click. */
export interface Destination {
  readonly to: 'destination'
  readonly url: string
  readonly rule: string
}
export type Resolved = Destination | { readonly to: 'password' | 'expired' | 'loop' }

export interface Visitor {
  /** has shown the link's password within the hour */
  readonly unlocked: boolean
}

/** Decides where a visitor goes. Pure; the order is that of `decisions.md`, "The public side". */
export const resolve = (target: Target, visitor: Visitor, now: number, isOurs: (host: string) => boolean): Resolved => {
  if (target.expiry && target.expiry.getTime() <= now) return { to: 'expired' }
  if (target.password !== null && !visitor.unlocked) return { to: 'password' }
  // the address may have become one of ours after the link was made
  if (isOurs(new URL(target.url).hostname)) return { to: 'loop' }
  return { to: 'destination', url: target.url, rule: 'link' }
}
