import type { ComponentType } from 'preact'
import { loadTexts } from './core/texts.ts'

/** What a screen gets: the parts of its path, such as `id`. */
export interface ScreenProps {
  readonly params: Readonly<Record<string, string>>
}
export type Screen = ComponentType<ScreenProps>

interface Route {
  /** `/links/:id`; an id has digits only */
  readonly path: string
  /** Loads the screen, with what it says: each is a file of its own, so that the first one is there soon. */
  readonly load: () => Promise<Screen>
}

/** Loads a screen together with all texts. */
const withTexts = (load: () => Promise<Screen>) => async () => (await Promise.all([load(), loadTexts()]))[0]

/** The screens of the dashboard. The overview has its texts from the start. */
const routes: readonly Route[] = [
  { path: '/', load: async () => (await import('./screens/overview.tsx')).Overview },
  { path: '/links', load: withTexts(async () => (await import('./screens/links.tsx')).Links) },
  { path: '/links/:id', load: withTexts(async () => (await import('./screens/link.tsx')).LinkScreen) },
  { path: '/qr', load: withTexts(async () => (await import('./screens/qrs.tsx')).QrCodes) },
  { path: '/qr/new', load: withTexts(async () => (await import('./screens/qr.tsx')).QrDesigner) },
  { path: '/qr/:id', load: withTexts(async () => (await import('./screens/qr.tsx')).QrDesigner) },
  { path: '/history', load: withTexts(async () => (await import('./screens/history.tsx')).HistoryScreen) },
  { path: '/proof', load: withTexts(async () => (await import('./screens/proof.tsx')).ProofScreen) },
  { path: '/bio', load: withTexts(async () => (await import('./screens/bios.tsx')).Bios) },
  { path: '/bio/new', load: withTexts(async () => (await import('./screens/bio.tsx')).BioScreen) },
  { path: '/bio/:id', load: withTexts(async () => (await import('./screens/bio.tsx')).BioScreen) },
  { path: '/campaigns', load: withTexts(async () => (await import('./screens/campaigns.tsx')).Campaigns) },
  { path: '/campaigns/:id', load: withTexts(async () => (await import('./screens/campaign.tsx')).CampaignScreen) },
  { path: '/channels', load: withTexts(async () => (await import('./screens/channels.tsx')).Channels) },
  { path: '/channels/:id', load: withTexts(async () => (await import('./screens/channel.tsx')).ChannelScreen) },
  { path: '/splash', load: withTexts(async () => (await import('./screens/splashes.tsx')).Splashes) },
  { path: '/splash/new', load: withTexts(async () => (await import('./screens/splash.tsx')).SplashScreen) },
  { path: '/splash/:id', load: withTexts(async () => (await import('./screens/splash.tsx')).SplashScreen) },
  { path: '/overlays', load: withTexts(async () => (await import('./screens/overlays.tsx')).Overlays) },
  { path: '/overlays/new', load: withTexts(async () => (await import('./screens/overlay.tsx')).OverlayScreen) },
  { path: '/overlays/:id', load: withTexts(async () => (await import('./screens/overlay.tsx')).OverlayScreen) },
  { path: '/pixels', load: withTexts(async () => (await import('./screens/pixels.tsx')).Pixels) },
  { path: '/domains', load: withTexts(async () => (await import('./screens/domains.tsx')).Domains) },
  { path: '/domains/:id', load: withTexts(async () => (await import('./screens/domain.tsx')).DomainScreen) },
  { path: '/keys', load: withTexts(async () => (await import('./screens/keys.tsx')).Keys) },
  { path: '/webhooks', load: withTexts(async () => (await import('./screens/webhooks.tsx')).Webhooks) },
  { path: '/webhooks/:id', load: withTexts(async () => (await import('./screens/webhook.tsx')).WebhookScreen) },
  { path: '/operator', load: withTexts(async () => (await import('./screens/operator.tsx')).OperatorAccounts) },
  {
    path: '/operator/reports',
    load: withTexts(async () => (await import('./screens/operator/reports.tsx')).OperatorReports),
  },
  {
    path: '/operator/blocks',
    load: withTexts(async () => (await import('./screens/operator/blocks.tsx')).OperatorBlocks),
  },
  {
    path: '/operator/health',
    load: withTexts(async () => (await import('./screens/operator/health.tsx')).OperatorHealth),
  },
  { path: '/more', load: withTexts(async () => (await import('./screens/more.tsx')).More) },
  { path: '/account', load: withTexts(async () => (await import('./screens/account.tsx')).AccountScreen) },
]

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[1-9]\\d{0,15})')}$`)
const compiled = routes.map((route) => ({ ...route, pattern: patternOf(route.path) }))

/** Returns the screen at a path, with the parts of the path; undefined when there is none. */
export const routeAt = (path: string) => {
  for (const route of compiled) {
    const found = route.pattern.exec(path)
    if (found) return { ...route, params: { ...found.groups } }
  }
  return undefined
}
