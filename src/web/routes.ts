import type { ComponentType } from 'preact'
import type { ScreenProps } from './core/router.ts'
import { loadTexts } from './core/texts.ts'

export type Screen = ComponentType<ScreenProps>

interface Route {
  /** `/links/:id`; an id has digits only */
  readonly path: string
  /** whether the screen is for one that is new, too: `/qr/new` */
  readonly add?: true
  /** Loads the screen and its texts. Each is a separate file, so that the first screen loads fast. */
  readonly load: () => Promise<Screen>
}

/** Loads a screen together with all texts. */
const withTexts = (load: () => Promise<Screen>) => async () => (await Promise.all([load(), loadTexts()]))[0]

/** The screens of the dashboard. The overview has its texts from the start. */
const routes: readonly Route[] = [
  { path: '/', load: async () => (await import('./screens/statistics/overview.tsx')).Overview },
  { path: '/links', load: withTexts(async () => (await import('./screens/links/list.tsx')).Links) },
  { path: '/links/:id', load: withTexts(async () => (await import('./screens/links/link.tsx')).LinkScreen) },
  { path: '/import', load: withTexts(async () => (await import('./screens/imports/import.tsx')).ImportScreen) },
  { path: '/misses', load: withTexts(async () => (await import('./screens/links/misses.tsx')).Misses) },
  { path: '/visits', load: withTexts(async () => (await import('./screens/statistics/visits.tsx')).VisitsScreen) },
  { path: '/counting', load: withTexts(async () => (await import('./screens/statistics/counting.tsx')).Counting) },
  { path: '/classes', load: withTexts(async () => (await import('./screens/statistics/classes.tsx')).Classes) },
  { path: '/qr', load: withTexts(async () => (await import('./screens/qr/list.tsx')).QrCodes) },
  { path: '/qr/:id', add: true, load: withTexts(async () => (await import('./screens/qr/designer.tsx')).QrDesigner) },
  { path: '/history', load: withTexts(async () => (await import('./screens/history/list.tsx')).HistoryScreen) },
  { path: '/proof', load: withTexts(async () => (await import('./screens/proof/proof.tsx')).ProofScreen) },
  { path: '/bio', load: withTexts(async () => (await import('./screens/pages/bios/list.tsx')).Bios) },
  {
    path: '/bio/:id',
    add: true,
    load: withTexts(async () => (await import('./screens/pages/bios/bio.tsx')).BioScreen),
  },
  { path: '/campaigns', load: withTexts(async () => (await import('./screens/links/campaigns/list.tsx')).Campaigns) },
  {
    path: '/campaigns/:id',
    load: withTexts(async () => (await import('./screens/links/campaigns/campaign.tsx')).CampaignScreen),
  },
  { path: '/channels', load: withTexts(async () => (await import('./screens/links/channels/list.tsx')).Channels) },
  {
    path: '/channels/:id',
    load: withTexts(async () => (await import('./screens/links/channels/channel.tsx')).ChannelScreen),
  },
  { path: '/splash', load: withTexts(async () => (await import('./screens/pages/splashes/list.tsx')).Splashes) },
  {
    path: '/splash/:id',
    add: true,
    load: withTexts(async () => (await import('./screens/pages/splashes/splash.tsx')).SplashScreen),
  },
  { path: '/overlays', load: withTexts(async () => (await import('./screens/pages/overlays/list.tsx')).Overlays) },
  {
    path: '/overlays/:id',
    add: true,
    load: withTexts(async () => (await import('./screens/pages/overlays/overlay.tsx')).OverlayScreen),
  },
  { path: '/pixels', load: withTexts(async () => (await import('./screens/pages/pixels.tsx')).Pixels) },
  { path: '/domains', load: withTexts(async () => (await import('./screens/domains/list.tsx')).Domains) },
  { path: '/domains/:id', load: withTexts(async () => (await import('./screens/domains/domain.tsx')).DomainScreen) },
  { path: '/keys', load: withTexts(async () => (await import('./screens/accounts/keys.tsx')).Keys) },
  { path: '/members', load: withTexts(async () => (await import('./screens/accounts/members.tsx')).Members) },
  { path: '/members/:id', load: withTexts(async () => (await import('./screens/accounts/person.tsx')).PersonScreen) },
  { path: '/approvals', load: withTexts(async () => (await import('./screens/approvals/list.tsx')).Approvals) },
  {
    path: '/approvals/:id',
    load: withTexts(async () => (await import('./screens/approvals/proposal.tsx')).ProposalScreen),
  },
  {
    path: '/invitation',
    load: withTexts(async () => (await import('./screens/accounts/invitation.tsx')).Invitation),
  },
  { path: '/webhooks', load: withTexts(async () => (await import('./screens/webhooks/list.tsx')).Webhooks) },
  {
    path: '/webhooks/:id',
    load: withTexts(async () => (await import('./screens/webhooks/webhook.tsx')).WebhookScreen),
  },
  {
    path: '/operator',
    load: withTexts(async () => (await import('./screens/operator/accounts.tsx')).OperatorAccounts),
  },
  {
    path: '/operator/reports',
    load: withTexts(async () => (await import('./screens/operator/reports.tsx')).OperatorReports),
  },
  {
    path: '/operator/blocks',
    load: withTexts(async () => (await import('./screens/operator/blocks.tsx')).OperatorBlocks),
  },
  {
    path: '/operator/misses',
    load: withTexts(async () => (await import('./screens/operator/misses.tsx')).OperatorMisses),
  },
  {
    path: '/operator/classes',
    load: withTexts(async () => (await import('./screens/operator/classes.tsx')).OperatorClasses),
  },
  {
    path: '/operator/health',
    load: withTexts(async () => (await import('./screens/operator/health.tsx')).OperatorHealth),
  },
  { path: '/more', load: withTexts(async () => (await import('./screens/more.tsx')).More) },
  { path: '/account', load: withTexts(async () => (await import('./screens/accounts/account.tsx')).AccountScreen) },
]

const patternOf = ({ path, add }: Route) =>
  new RegExp(`^${path.replaceAll(/:(\w+)/g, `(?:${add ? 'new|' : ''}(?<$1>[1-9]\\d{0,15}))`)}$`)
const compiled = routes.map((route) => ({ ...route, pattern: patternOf(route) }))

/** Returns the screen at a path, with the parts of the path; undefined when there is none. */
export const routeAt = (path: string) => {
  for (const route of compiled) {
    const found = route.pattern.exec(path)
    if (found) return { ...route, params: { ...found.groups } }
  }
  return undefined
}
