import type { IncomingMessage } from 'node:http'
import { isOwnPath } from '../../commands/links/alias.ts'
import { createAnswerPages } from '../../http/public/overlay/answer.ts'
import type { Route } from '../../http/api/route.ts'
import { routesOf } from '../../http/routes.ts'
import { createCampaignPages } from '../../http/public/campaign/campaign.ts'
import type { Cache } from '../../cache/cache.ts'
import { asyncApi, messageSchema } from '../../clicks/kafka/asyncapi.ts'
import { version } from '../../lib/version.ts'
import { referencePages } from '../../http/docs/pages.ts'
import { streamDocument } from '../../http/docs/streamdocument.ts'
import { createSendPage } from '../../http/public/page/page.ts'
import { createPageTurns } from '../../http/public/page/turns.ts'
import { sendFavicon } from '../../http/public/favicon.ts'
import { createWellKnown } from '../../http/public/wellknown.ts'
import { createLogPages } from '../../http/proof/log.ts'
import { createReportPages } from '../../http/public/report/report.ts'
import type { OperatorHealth } from '../../http/operator/operator.ts'
import { apiAddressOf } from '../../http/qr/image.ts'
import { createQrPages, type QrPagesOptions } from '../../http/public/qr.ts'
import { newestCheckpoint } from '../../postgres/checkpoints.ts'
import { createRedirect, type RedirectOptions } from '../../http/public/redirect.ts'
import type { PublicHandler } from '../../http/public/responses.ts'
import type { Config } from '../../config.ts'
import { openApi } from './api.ts'
import { openDashboard } from './dashboard.ts'
import type { Operator } from '../../http/public/page/view.ts'
import { type Effects, effectsOf } from '../effects.ts'
import { dashboardHosts } from './hosts.ts'
import type { Ledger } from '../log/ledger.ts'
import type { Overrides } from '../overrides.ts'
import { openServices } from './services.ts'
import { proveExtension } from '../proof/proofs.ts'
import { openImages } from '../../qr/images.ts'
import { findApps } from '../../queries/domains/domain.ts'
import type { Reader } from '../../queries/reader.ts'
import { openImageStore } from '../../security/images.ts'

export interface SiteOptions extends Pick<RedirectOptions, 'countryOf' | 'recordVisit' | 'isOurHost'> {
  readonly ledger: Ledger
  readonly cache: Cache
  readonly redirectReader: Reader
  readonly isMainHost: (host: string) => boolean
  readonly baseUrl: string
  readonly overrides: Overrides
  readonly operatorHealth: OperatorHealth
  readonly effects?: Effects
}

/** What public pages lead to. */
interface Behind extends Pick<ReturnType<typeof openServices>, 'services' | 'accountPages' | 'issuerPages'> {
  readonly images: ReturnType<typeof openImages>
  readonly routes: readonly Route[]
  readonly api: PublicHandler
}

/** ms between two writes of what was counted */
const missInterval = 2000

/** Describes the topic of clicks, streams and webhooks, and the messages of the topic as JSON Schema. */
const topicDescriptions = {
  '/asyncapi.json': () => asyncApi(version(), streamDocument()),
  '/asyncapi/click.schema.json': messageSchema,
}

/** Returns what pages say about the operator. */
export const publicOperator = ({ OPERATOR_NAME, OPERATOR_EMAIL, IMPRINT_URL, PRIVACY_URL }: Config): Operator => ({
  name: OPERATOR_NAME,
  email: OPERATOR_EMAIL,
  imprint: IMPRINT_URL,
  privacy: PRIVACY_URL,
})

const openQrPages = (
  { keys, log, ordinals }: Pick<Ledger, 'keys' | 'log' | 'ordinals'>,
  redirectReader: Reader,
  pages: Omit<QrPagesOptions, 'imageStore' | 'onLogoMissing' | 'ordinals'>,
) =>
  createQrPages({
    ...pages,
    imageStore: openImageStore(redirectReader.db, keys),
    ordinals,
    onLogoMissing: ({ qr: id, ...code }) =>
      log.warn(
        { id, ...code },
        'the logo of a QR code is missing or cannot be decrypted; the code is drawn without it',
      ),
  })

/** What the service serves at one address each. */
const fixedPages = (routes: readonly Route[], dashboard: PublicHandler, report: PublicHandler) => ({
  '/dashboard': dashboard,
  '/report': report,
  '/favicon.ico': sendFavicon,
  ...referencePages(routes, version(), topicDescriptions),
})

/** Pages show the requested host, if it is ours. */
const openSendPage = (
  config: Config,
  { isOurHost, baseUrl, cache: { domains } }: Pick<SiteOptions, 'isOurHost' | 'baseUrl' | 'cache'>,
) =>
  createSendPage(publicOperator(config), ({ headers: { host = '' } }) =>
    isOurHost(host) ? { host, exact: domains.byHost(host)?.exact ?? false } : { host: new URL(baseUrl).host },
  )

/** Passes requests for the earlier image of a QR code to the API. */
const imagesWith =
  (api: PublicHandler, pages: PublicHandler): PublicHandler =>
  (req, res) => {
    const address = apiAddressOf(req.url)
    if (address === undefined) return pages(req, res)
    req.url = address
    return api(req, res)
  }

const openLogPages = ({ config, db }: Ledger) =>
  createLogPages({
    db,
    checkpoint: () => newestCheckpoint(db),
    extension: (first) => proveExtension(db, first),
    trustProxy: config.TRUST_PROXY,
  })

/** Opens the public pages, in front of the API. */
const openPages = (
  { ledger, cache, redirectReader, countryOf, recordVisit, isOurHost, isMainHost, baseUrl, overrides }: SiteOptions,
  { limiter, misses, now }: Effects,
  { images, routes, api, services, accountPages, issuerPages }: Behind,
) => {
  const { config, handler, log, metrics, outages } = ledger
  const { blocks, clickCounts, current, domains, pending, progress, targets } = cache
  const shared = {
    blocks,
    clickCounts,
    current,
    domains,
    isDashboardHost: dashboardHosts(config),
    isMainHost,
    isOurHost,
    baseUrl,
    limiter,
    log,
    misses,
    now,
    outages,
    pending,
    pepper: services.pepper,
    progress,
    sendPage: openSendPage(config, { isOurHost, baseUrl, cache }),
    pageTurn: createPageTurns(config.TRUST_PROXY),
    targets,
    trustProxy: config.TRUST_PROXY,
  }
  const secureCookies = () => baseUrl.startsWith('https:')
  const visits = { countryOf, recordVisit, notCounted: metrics.notCounted }
  const redirect = createRedirect({ ...shared, ...visits, secureCookies, pixelConsent: config.PIXEL_CONSENT })
  const pages = { ...shared, ...redirect, handler, reader: redirectReader, baseUrl: services.baseUrl, images }
  const campaignPages = createCampaignPages(pages)
  const qrPages = openQrPages(ledger, redirectReader, pages)
  const own = { config, reader: redirectReader, baseUrl, web: overrides.web }
  const dashboard = openDashboard({ ...shared, ...redirect, ...own })
  const forms = {
    '/dashboard/': dashboard,
    '/o/': createAnswerPages({ ...redirect, ...shared, handler, secureCookies }),
    '/account/': accountPages({ ...pages, hashNewPassword: services.hashNewPassword }),
    ...issuerPages(pages),
    '/log/': openLogPages(ledger),
    '/.well-known/': createWellKnown({
      ...redirect,
      blocks,
      domains,
      findApps: (id) => findApps(redirectReader, id),
      contact: config.SECURITY_CONTACT,
      trustProxy: config.TRUST_PROXY,
    }),
  }
  return {
    redirect: redirect.handle,
    isOfLink: ({ headers }: IncomingMessage, path: string) =>
      domains.byHost(headers.host ?? '')?.exact === true && !isOwnPath(path.split('?', 1)[0] ?? ''),
    below: { '/r/': campaignPages, '/u/': campaignPages, '/qr/': imagesWith(api, qrPages), ...forms },
    at: fixedPages(routes, dashboard, createReportPages(pages)),
  }
}

/** Opens what a process with the role http serves: the API and the public pages. */
export const openSite = (options: SiteOptions) => {
  const { ledger, cache, overrides, effects = effectsOf(ledger) } = options
  const images = overrides.images ?? openImages()
  const { services, accountPages, issuerPages, endStreams, close } = openServices({ ...options, effects, images })
  const routes = routesOf(services)
  const stopMisses = effects.repeat(effects.misses.write, missInterval, (error) =>
    ledger.log.warn({ err: error }, 'addresses that lead nowhere could not be counted; it is tried again'),
  )
  const api = openApi({ ledger, cache, effects }, services, routes)
  return {
    api,
    ...openPages(options, effects, { images, routes, api, services, accountPages, issuerPages }),
    endStreams,
    close: async () => {
      await close()
      await stopMisses()
      // those of the last seconds are lost when the database is
      await effects.misses.write().catch(() => {})
      await images.close()
    },
  }
}
