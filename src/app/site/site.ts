import { createAnswerPages } from '../../http/public/overlay/answer.ts'
import { createApi } from '../../http/api/api.ts'
import type { Route } from '../../http/api/route.ts'
import { routesOf, type Services } from '../../http/routes.ts'
import { createCampaignPages } from '../../http/public/campaign.ts'
import type { Cache } from '../../cache/cache.ts'
import { asyncApi, messageSchema } from '../../clicks/kafka/asyncapi.ts'
import { version } from '../../lib/version.ts'
import { referencePages } from '../../http/docs/pages.ts'
import { streamDocument } from '../../http/docs/streamdocument.ts'
import { createSendPage } from '../../http/public/page/page.ts'
import { sendFavicon } from '../../http/public/favicon.ts'
import { createLogPages } from '../../http/proof/log.ts'
import { createReportPages } from '../../http/public/report/report.ts'
import type { OperatorHealth } from '../../http/operator/operator.ts'
import { apiAddressOf } from '../../http/qr/image.ts'
import { createQrPages, type QrPagesOptions } from '../../http/public/qr.ts'
import { newestCheckpoint } from '../../postgres/checkpoints.ts'
import { createRedirect, type RedirectOptions } from '../../http/public/redirect.ts'
import type { PublicHandler } from '../../http/public/responses.ts'
import type { Config } from '../../config.ts'
import { openDashboard } from './dashboard.ts'
import type { Operator } from '../../http/public/page/view.ts'
import { type Effects, effectsOf } from '../effects.ts'
import type { Ledger } from '../log/ledger.ts'
import type { Overrides } from '../overrides.ts'
import { openServices } from './services.ts'
import { proveExtension } from '../proof/proofs.ts'
import { idSequences } from '../../postgres/ids.ts'
import { openImages } from '../../qr/images.ts'
import type { Reader } from '../../queries/reader.ts'
import { openIdempotencyStore } from '../../security/idempotency.ts'
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
  { keys, log }: Pick<Ledger, 'keys' | 'log'>,
  redirectReader: Reader,
  pages: Omit<QrPagesOptions, 'imageStore' | 'onLogoMissing'>,
) =>
  createQrPages({
    ...pages,
    imageStore: openImageStore(redirectReader.db, keys),
    onLogoMissing: (code) =>
      log.warn(code, 'the logo of a QR code is missing or cannot be decrypted; the code is drawn without it'),
  })

/** Marks a stream as pending in this process, and tells the others. */
const announcePending =
  ({ instance, notify }: Pick<Ledger, 'instance' | 'notify'>, pending: Cache['pending']) =>
  (stream: string, position: bigint) => {
    pending.add(stream, position)
    void notify({ kind: 'pending', from: instance, stream, position }).catch(() => {})
  }

/** What the service serves at one address each. */
const fixedPages = (routes: readonly Route[], dashboard: PublicHandler, report: PublicHandler) => ({
  '/dashboard': dashboard,
  '/report': report,
  '/favicon.ico': sendFavicon,
  ...referencePages(routes, version(), topicDescriptions),
})

/** Pages name the host that the visitor has asked for, if it is ours. */
const openSendPage = (config: Config, isOurHost: (host: string) => boolean, baseUrl: string) =>
  createSendPage(publicOperator(config), ({ headers: { host = '' } }) =>
    isOurHost(host) ? host : new URL(baseUrl).host,
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

/** Opens the API. Where nobody may register, there is no address for that. */
const openApi = (
  { ledger, cache, effects }: { readonly ledger: Ledger; readonly cache: Cache; readonly effects: Effects },
  services: Services,
  routes: readonly Route[],
) => {
  const { config, db, handler, instance, keys, log, reader, transactions } = ledger
  const { auth, domains, pending, progress } = cache
  const { limiter, recordUse, past } = effects
  const api = createApi({
    routes: config.REGISTRATION === 'open' ? routes : routes.filter(({ path }) => path !== '/register'),
    auth,
    baseUrl: services.baseUrl,
    domains,
    handler,
    idempotency: openIdempotencyStore(db, keys, instance),
    limiter,
    log,
    nextId: idSequences(db),
    recordUse,
    onPending: announcePending(ledger, pending),
    past,
    pending,
    pepper: services.pepper,
    progress,
    quotas: services.quotas,
    rateLimit: config.RATE_LIMIT_PER_MINUTE,
    reader,
    sessionRateLimit: config.SESSION_RATE_LIMIT_PER_MINUTE,
    sessions: services.sessions,
    transactions,
    trustProxy: config.TRUST_PROXY,
  })
  return api.callback()
}

/** Opens what a process with the role http serves: the API and the public pages. */
export const openSite = ({
  ledger,
  cache,
  redirectReader,
  countryOf,
  recordVisit,
  isOurHost,
  isMainHost,
  baseUrl,
  overrides,
  operatorHealth,
  effects = effectsOf(ledger),
}: SiteOptions) => {
  const { config, handler, log, metrics } = ledger
  const { blocks, domains, pending, progress } = cache
  const { limiter, now } = effects
  const images = overrides.images ?? openImages()
  const { services, accountPages, endStreams, close } = openServices({
    ledger,
    cache,
    effects,
    overrides,
    operatorHealth,
    images,
    baseUrl,
    isOurHost,
    isMainHost,
  })
  const routes = routesOf(services)
  const answer = openApi({ ledger, cache, effects }, services, routes)
  const shared = {
    blocks,
    clickCounts: cache.clickCounts,
    current: cache.current,
    domains,
    isMainHost,
    isOurHost,
    limiter,
    log,
    now,
    pending,
    pepper: services.pepper,
    progress,
    sendPage: openSendPage(config, isOurHost, baseUrl),
    targets: cache.targets,
    trustProxy: config.TRUST_PROXY,
  }
  const secureCookies = () => baseUrl.startsWith('https:')
  const visits = { countryOf, recordVisit, notCounted: metrics.notCounted }
  const redirect = createRedirect({ ...shared, ...visits, secureCookies, pixelConsent: config.PIXEL_CONSENT })
  const pages = { ...shared, ...redirect, handler, reader: redirectReader, baseUrl: services.baseUrl, images }
  const campaignPages = createCampaignPages(pages)
  const qrPages = openQrPages(ledger, redirectReader, pages)
  const dashboard = openDashboard({
    config,
    ...shared,
    ...redirect,
    reader: redirectReader,
    baseUrl,
    web: overrides.web,
  })
  const forms = {
    '/dashboard/': dashboard,
    '/o/': createAnswerPages({ ...redirect, ...shared, handler, secureCookies }),
    '/account/': accountPages(pages),
    '/log/': openLogPages(ledger),
  }
  return {
    api: answer,
    redirect: redirect.handle,
    below: { '/r/': campaignPages, '/u/': campaignPages, '/qr/': imagesWith(answer, qrPages), ...forms },
    at: fixedPages(routes, dashboard, createReportPages(pages)),
    endStreams,
    close: async () => {
      await close()
      await images.close()
    },
  }
}
