import { createAnswerPages } from '../http/public/overlay/answer.ts'
import { createApi } from '../http/api/api.ts'
import type { Past } from '../http/api/past/past.ts'
import { createCampaignPages } from '../http/public/campaign.ts'
import { createDomainCheck } from '../commands/domains/check.ts'
import { openResolver, type Resolver } from '../lib/dns.ts'
import { type GuardedFetch, type GuardedProbe, openFetch } from '../lib/fetch.ts'
import type { Cache } from '../cache/cache.ts'
import { asyncApi, messageSchema } from '../clicks/kafka/asyncapi.ts'
import { version } from '../lib/version.ts'
import { referencePages } from '../http/docs/pages.ts'
import { streamDocument } from '../http/docs/streamdocument.ts'
import { createSendPage } from '../http/public/page/page.ts'
import { sendFavicon } from '../http/public/favicon.ts'
import { createLogPages } from '../http/proof/log.ts'
import { createReportPages } from '../http/public/report/report.ts'
import type { OperatorHealth } from '../http/operator/operator.ts'
import { apiAddressOf } from '../http/qr/image.ts'
import { createQrPages, type QrPagesOptions } from '../http/public/qr.ts'
import { newestCheckpoint } from '../postgres/checkpoints.ts'
import { openKeyUses } from '../postgres/keyuses.ts'
import { limiter } from '../postgres/ratelimits.ts'
import { createRedirect, type RedirectOptions } from '../http/public/redirect.ts'
import type { PublicHandler } from '../http/public/responses.ts'
import type { Config } from '../config.ts'
import { openDashboard } from './dashboard.ts'
import type { Operator } from '../http/public/page/view.ts'
import { isOperatorHost } from './hosts.ts'
import { type JobsOptions, startJobs } from './jobs.ts'
import { secondsBehind } from './health/lag.ts'
import type { Ledger } from './log/ledger.ts'
import { openAccountLife } from './accounts/life.ts'
import { openAccountLimits } from './accounts/limits.ts'
import { openReads } from './readpools.ts'
import { openStreams } from './streams.ts'
import type { WebhookOutside } from './webhooks.ts'
import { openAllProofs, proveExtension } from './proof/proofs.ts'
import { repeat } from './jobs/repeat.ts'
import { idSequences } from '../postgres/ids.ts'
import { type Images, openImages } from '../qr/images.ts'
import type { Reader } from '../queries/reader.ts'
import { openIdempotencyStore } from '../security/idempotency.ts'
import { openImageStore } from '../security/images.ts'
import { hashPassword } from '../security/passwords.ts'

/** What tests replace: what the service uses of the outside world, and what takes long by design. */
export interface Outside {
  readonly resolver?: Resolver
  readonly guardedFetch?: GuardedFetch
  readonly guardedProbe?: GuardedProbe
  readonly webhooks?: WebhookOutside
  readonly hashNewPassword?: (password: string) => Promise<string>
  readonly images?: Images
  /** the bundle of the dashboard */
  readonly web?: string
}
export interface SiteOptions extends Pick<RedirectOptions, 'countryOf' | 'recordVisit' | 'isOurHost'> {
  readonly ledger: Ledger
  readonly cache: Cache
  readonly redirectReader: Reader
  readonly isMainHost: (host: string) => boolean
  readonly baseUrl: string
  readonly outside: Outside
  readonly operatorHealth: OperatorHealth
  readonly effects?: Effects
}

/** What a site does besides answering requests. */
export interface Effects {
  readonly startJobs: (options: JobsOptions) => ReturnType<typeof startJobs>
  /** what answers of the API are read from */
  readonly past: Past
  /** Repeats work that deletes what has expired. */
  readonly repeat: typeof repeat
  readonly limiter: ReturnType<typeof limiter>
  /** Notes the use of an API key. */
  readonly recordUse: (key: string) => void
  /** the clock of links and statistics, in ms since 1970 */
  readonly now: () => number
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
const fixedPages = (dashboard: PublicHandler, report: PublicHandler) => ({
  '/dashboard': dashboard,
  '/report': report,
  '/favicon.ico': sendFavicon,
  ...referencePages(version(), topicDescriptions),
})

/** Pages name the host that the visitor has asked for, if it is ours. */
const openSendPage = (config: Config, isOurHost: (host: string) => boolean, baseUrl: string) =>
  createSendPage(publicOperator(config), ({ headers: { host = '' } }) =>
    isOurHost(host) ? host : new URL(baseUrl).host,
  )

const openDomainCheck = ({ config, keys }: Pick<Ledger, 'config' | 'keys'>, outside: Outside) =>
  createDomainCheck({
    proof: config.DOMAIN_CHECK,
    targets: config.DOMAIN_TARGETS,
    resolver: outside.resolver ?? openResolver(),
    pepper: keys.service,
  })

/** Passes requests for the earlier image of a QR code to the API. */
const imagesWith =
  (api: PublicHandler, pages: PublicHandler): PublicHandler =>
  (req, res) => {
    const address = apiAddressOf(req.url)
    if (address === undefined) return pages(req, res)
    req.url = address
    return api(req, res)
  }

/** What names events by their ordinals. */
const numbered = (ledger: Ledger) => ({ ordinals: ledger.ordinals, proofs: openAllProofs(ledger) })

const openLogPages = ({ config, db }: Ledger) =>
  createLogPages({
    db,
    checkpoint: () => newestCheckpoint(db),
    extension: (first) => proveExtension(db, first),
    trustProxy: config.TRUST_PROXY,
  })

const effectsOf = (ledger: Ledger): Effects => ({
  startJobs,
  past: openReads(ledger),
  repeat,
  limiter: limiter(ledger.db),
  recordUse: openKeyUses(ledger.db),
  now: () => Date.now(),
})

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
  outside,
  operatorHealth,
  effects = effectsOf(ledger),
}: SiteOptions) => {
  const { config, db, handler, instance, keys, log, metrics, reader } = ledger
  const { domains, pending } = cache
  const images = outside.images ?? openImages()
  const domainCheck = openDomainCheck(ledger, outside)
  const jobs = effects.startJobs({ ledger, domains, baseUrl, domainCheck, outside })

  const shared = {
    ...cache,
    sendPage: openSendPage(config, isOurHost, baseUrl),
    ...effects,
    pepper: keys.service,
    isOurHost,
    isMainHost,
    trustProxy: config.TRUST_PROXY,
    log,
  }
  const streams = openStreams(ledger)
  const life = openAccountLife(ledger, cache, effects, baseUrl)
  const api = createApi({
    ...shared,
    streams,
    handler,
    together: ledger.together,
    reader,
    ...numbered(ledger),
    clicksBehind: (position) => secondsBehind(ledger.store, 'clicks', position),
    nextId: idSequences(db),
    baseUrl: () => baseUrl,
    operatorHealth,
    registration: config.REGISTRATION === 'open',
    ...life.services,
    hashNewPassword: outside.hashNewPassword ?? hashPassword,
    ...openAccountLimits(ledger, cache.progress, shared.limiter),
    isOperatorHost: isOperatorHost(config),
    domainCheck,
    idempotency: openIdempotencyStore(db, keys, instance),
    guardedFetch: outside.guardedFetch ?? openFetch(),
    ...jobs.services,
    images,
    onPending: announcePending(ledger, pending),
  })
  const secureCookies = () => baseUrl.startsWith('https:')
  const visits = { countryOf, recordVisit, notCounted: metrics.notCounted }
  const redirect = createRedirect({ ...shared, ...visits, secureCookies, pixelConsent: config.PIXEL_CONSENT })
  const pages = { ...shared, ...redirect, handler, reader: redirectReader, baseUrl: () => baseUrl, images }
  const campaignPages = createCampaignPages(pages)
  const qrPages = openQrPages(ledger, redirectReader, pages)
  const dashboard = openDashboard({ config, ...shared, ...redirect, reader: redirectReader, baseUrl, web: outside.web })
  const forms = {
    '/dashboard/': dashboard,
    '/o/': createAnswerPages({ ...redirect, ...shared, handler, secureCookies }),
    '/account/': life.pages(pages),
    '/log/': openLogPages(ledger),
  }
  const answer = api.callback()
  return {
    api: answer,
    redirect: redirect.handle,
    below: { '/r/': campaignPages, '/u/': campaignPages, '/qr/': imagesWith(answer, qrPages), ...forms },
    at: fixedPages(dashboard, createReportPages(pages)),
    endStreams: streams.endFollowers,
    close: async () => {
      await Promise.all([jobs.close(), life.close(), streams.close()])
      await images.close()
    },
  }
}
