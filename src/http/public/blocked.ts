import type { Blocks } from '../../cache/blocks.ts'
import type { Domains } from '../../cache/domains.ts'
import type { OverlayFields } from '../../events/pages/overlay.ts'
import type { BioTarget, Interstitial } from '../../queries/links/target.ts'
import { html } from './page/html.ts'
import type { WritePage } from './page/page.ts'
import { topOf } from './page/page.ts'

export interface BlockedAddressOptions {
  readonly blocks: Pick<Blocks, 'address' | 'addressOn'>
  readonly domains: Pick<Domains, 'byHost'>
  readonly isMainHost: (host: string) => boolean
}

/**
 * Returns a test for short addresses, by the host that a visitor has asked for. A block of an address of a branded
 * domain holds when there is no domain any more, and the host leads to what our own has.
 */
export const createBlockedAddress =
  ({ blocks, domains, isMainHost }: BlockedAddressOptions) =>
  (host: string, alias: string): boolean =>
    blocks.address(domains.byHost(host)?.domain, alias) || (blocks.addressOn(host, alias) && !isMainHost(host))

type Destinations = Pick<Blocks, 'destination'>

/** Returns an address, or nothing if it is blocked. */
const unblocked = (url: string, { destination }: Destinations) => (url !== '' && destination(url) ? '' : url)

/** Returns an overlay without the addresses in it that are blocked. */
export const overlayWithoutBlocked = <O extends Pick<OverlayFields, 'link' | 'image'>>(
  overlay: O,
  blocks: Destinations,
): O => ({ ...overlay, link: unblocked(overlay.link, blocks), image: unblocked(overlay.image, blocks) })

/** Returns what is shown before a destination, without the addresses in it that are blocked. */
export const withoutBlocked = (interstitial: Interstitial, blocks: Destinations): Interstitial => {
  const { splash, overlay, image } = interstitial
  const open = (url: string) => unblocked(url, blocks)
  return {
    ...interstitial,
    image: open(image),
    splash: splash && {
      ...splash,
      logo: open(splash.logo),
      banner: open(splash.banner),
      product: open(splash.product),
    },
    overlay: overlay && overlayWithoutBlocked(overlay, blocks),
  }
}

/** Returns a bio page without the entries and the picture that are blocked. */
export const withoutBlockedEntries = (page: BioTarget, blocks: Destinations): BioTarget => ({
  ...page,
  avatar: unblocked(page.avatar, blocks),
  links: page.links.filter(({ url }) => !blocks.destination(url)),
})

/** Explains that a link, its destination or its domain is blocked. Not the operator's reason: that is for the owner. */
export const blockedPage: WritePage = (view) => {
  const { title, text, entered, owner, review } = view.texts.blocked
  return {
    status: 403,
    title,
    className: 'danger',
    json: { blocked: true },
    top: topOf(view),
    content: html`<h1>${title}</h1>
      <p>${text}</p>
      <section class="next">
        <h2>${entered.title}</h2>
        <p>${entered.text}</p>
      </section>
      <section class="next">
        <h2>${owner.title}</h2>
        <p>${owner.text}</p>
      </section>
      <p class="actions">
        <a class="button" href="/report?link=${encodeURIComponent(view.address)}&amp;reason=unblock">${review}</a>
      </p>`,
  }
}
