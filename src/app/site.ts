import { createAnswerPages } from '../http/public/answer.ts'
import { createApi } from '../http/api/router.ts'
import { createCampaignPages } from '../http/public/campaign.ts'
import { createDomainCheck } from '../commands/domaincheck.ts'
import { openResolver, type Resolver } from '../lib/dns.ts'
import { type GuardedFetch, type GuardedProbe, openFetch } from '../lib/fetch.ts'
import type { Cache } from '../cache/cache.ts'
import { asyncApi, messageSchema } from '../clicks/kafka/asyncapi.ts'
import { version } from '../lib/version.ts'
import { referencePages } from '../http/reference/pages.ts'
import { createSendPage } from '../http/public/page.ts'
import { sendFavicon } from '../http/public/favicon.ts'
import { createReportPages } from '../http/public/report.ts'
import { createQrPages, type QrPagesOptions } from '../http/public/qr.ts'
import { openKeyUses } from '../postgres/keyuses.ts'
import { limiter } from '../postgres/ratelimits.ts'
import { createRedirect, type RedirectOptions } from '../http/public/redirect.ts'
import type { Config } from '../config.ts'
import type { Operator } from '../http/public/view.ts'
import { isOperatorHost } from './hosts.ts'
import { startJobs } from './jobs.ts'
import type { Ledger } from './ledger.ts'
import { openAccountLife } from './accountlife.ts'
import { openAccountLimits } from './accountlimits.ts'
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
  readonly hashNewPassword?: (password: string) => Promise<string>
  readonly images?: Images
}
export interface SiteOptions extends Pick<RedirectOptions, 'countryOf' | 'recordVisit' | 'isOurHost'> {
  readonly ledger: Ledger
  readonly cache: Cache
  readonly redirectReader: Reader
  readonly isMainHost: (host: string) => boolean
  readonly baseUrl: string
  readonly outside: Outside
}

/** Describes the topic of clicks, and its messages as JSON Schema. */
const topicDescriptions = {
  '/asyncapi.json': () => asyncApi(version()),
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
}: SiteOptions) => {
  const { config, db, handler, instance, keys, log, metrics, notify, reader } = ledger
  const { domains, pending } = cache
  const images = outside.images ?? openImages()
  const domainCheck = createDomainCheck({
    proof: config.DOMAIN_CHECK,
    targets: config.DOMAIN_TARGETS,
    resolver: outside.resolver ?? openResolver(),
    pepper: keys.service,
  })
  const jobs = startJobs({ ledger, domains, baseUrl, domainCheck, guardedProbe: outside.guardedProbe })

  const shared = {
    ...cache,
    sendPage: createSendPage(publicOperator(config), ({ headers: { host = '' } }) =>
      isOurHost(host) ? host : new URL(baseUrl).host,
    ),
    limiter: limiter(db),
    pepper: keys.service,
    isOurHost,
    isMainHost,
    trustProxy: config.TRUST_PROXY,
    log,
  }
  const life = openAccountLife(ledger, cache, shared.limiter, baseUrl)
  const api = createApi({
    ...shared,
    handler,
    together: ledger.together,
    reader,
    nextId: idSequences(db),
    baseUrl: () => baseUrl,
    registration: config.REGISTRATION === 'open',
    ...life.services,
    hashNewPassword: outside.hashNewPassword ?? hashPassword,
    ...openAccountLimits(ledger, cache.progress, shared.limiter),
    isOperatorHost: isOperatorHost(config),
    domainCheck,
    idempotency: openIdempotencyStore(db, keys, instance),
    guardedFetch: outside.guardedFetch ?? openFetch(),
    frameChecks: jobs.frameChecks,
    images,
    rateLimit: config.RATE_LIMIT_PER_MINUTE,
    noteUse: openKeyUses(db),
    onPending: (stream, position) => {
      pending.add(stream, position)
      void notify({ kind: 'pending', from: instance, stream, position }).catch(() => {})
    },
  })
  const secureCookies = () => baseUrl.startsWith('https:')
  const visits = { countryOf, recordVisit, notCounted: metrics.notCounted }
  const redirect = createRedirect({ ...shared, ...visits, secureCookies, pixelConsent: config.PIXEL_CONSENT })
  const pages = { ...shared, ...redirect, handler, reader: redirectReader, baseUrl: () => baseUrl, images }
  const campaignPages = createCampaignPages(pages)
  const qrPages = openQrPages(ledger, redirectReader, pages)
  const answerPages = createAnswerPages({ ...redirect, ...shared, handler, secureCookies })
  const forms = { '/o/': answerPages, '/account/': life.pages(pages) }
  const reportPages = createReportPages(pages)

  return {
    api: api.callback(),
    redirect: redirect.handle,
    below: { '/r/': campaignPages, '/u/': campaignPages, '/qr/': qrPages, ...forms },
    at: { '/report': reportPages, '/favicon.ico': sendFavicon, ...referencePages(version(), topicDescriptions) },
    close: async () => {
      await Promise.all([jobs.close(), life.close()])
      await images.close()
    },
  }
}
