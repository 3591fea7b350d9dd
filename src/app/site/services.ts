import type { Cache } from '../../cache/cache.ts'
import { createDomainCheck } from '../../commands/domains/check.ts'
import type { OperatorHealth } from '../../http/operator/operator.ts'
import type { ApiOptions } from '../../http/api/api.ts'
import type { Services } from '../../http/routes.ts'
import { openResolver } from '../../lib/dns.ts'
import { openFetch } from '../../lib/fetch.ts'
import type { Images } from '../../qr/images.ts'
import { hashPassword } from '../../security/passwords.ts'
import { openAccountServices } from '../accounts/services.ts'
import { openVisitsElsewhere } from './elsewhere.ts'
import { openImporting } from './imports.ts'
import { openAccountLimits } from '../accounts/limits.ts'
import { secondsBehind } from '../health/lag.ts'
import { isOperatorHost } from './hosts.ts'
import type { Ledger } from '../log/ledger.ts'
import { openAllProofs } from '../proof/proofs.ts'
import type { Effects } from '../effects.ts'
import type { Overrides } from '../overrides.ts'
import { openStreams } from './streams.ts'

export interface ServicesOptions {
  readonly ledger: Ledger
  readonly cache: Cache
  readonly effects: Effects
  readonly overrides: Overrides
  readonly operatorHealth: OperatorHealth
  readonly images: Images
  readonly baseUrl: string
  readonly countryOf: (address: string) => string
  readonly isOurHost: (host: string) => boolean
  readonly isMainHost: (host: string) => boolean
}

const openDomainCheck = ({ config, keys }: Pick<Ledger, 'config' | 'keys'>, overrides: Overrides) =>
  createDomainCheck({
    proof: config.DOMAIN_CHECK,
    targets: config.DOMAIN_TARGETS,
    resolver: overrides.resolver ?? openResolver(),
    pepper: keys.service,
  })

/** Opens what the routes of the API need, and starts the background work that belongs to it. */
export const openServices = (options: ServicesOptions) => {
  const { ledger, cache, effects, overrides, operatorHealth, images, baseUrl, countryOf, isOurHost, isMainHost } =
    options
  const { config, handler, keys, ordinals, store, transactions } = ledger
  const { auth, blocks, domains, progress } = cache
  const domainCheck = openDomainCheck(ledger, overrides)
  const jobs = effects.startJobs({ ledger, cache, baseUrl, domainCheck, overrides })
  const streams = openStreams(ledger)
  const limits = openAccountLimits(ledger, progress, effects.limiter)
  const accounts = openAccountServices(ledger, cache, effects, limits.countRegistration, baseUrl)
  const elsewhere = openVisitsElsewhere(ledger, { countryOf, isOurHost })
  const importing = openImporting(ledger, accounts.services.exports.caughtUp, elsewhere)
  const services: Services & Pick<ApiOptions, 'authProxy'> = {
    ...accounts.services,
    allowedSchemes: config.ALLOWED_SCHEMES,
    auth,
    baseUrl: () => baseUrl,
    blocks,
    clicksBehind: (position) => secondsBehind(store, 'clicks', position),
    countRegistration: limits.countRegistration,
    registers: config.REGISTRATION === 'open',
    domainCheck,
    domains,
    erasure: { delayDays: config.ERASURE_DELAY_DAYS },
    findImage: accounts.services.exports.findImage,
    frameChecks: jobs.services.frameChecks,
    guardedFetch: overrides.guardedFetch ?? openFetch(),
    handler,
    hashNewPassword: overrides.hashNewPassword ?? hashPassword,
    images,
    imports: importing.imports,
    imageStore: limits.imageStore,
    isMainHost,
    isOperatorHost: isOperatorHost(config),
    isOurHost,
    operatorHealth,
    ordinals,
    signsOutThere: config.OIDC_LOGOUT === 'on',
    pepper: keys.service,
    proofs: openAllProofs(ledger),
    quotas: limits.quotas,
    reclassifyJobs: jobs.services.reclassifyJobs,
    readStream: accounts.services.exports.readStream,
    streamKeys: keys.ofStreams,
    streams,
    transactions,
    webhooks: jobs.services.webhooks,
  }
  return {
    services,
    accountPages: accounts.pages,
    issuerPages: accounts.issuerPages,
    endStreams: () => {
      streams.endFollowers()
      importing.endUploads()
    },
    close: async () => void (await Promise.all([importing.close(), jobs.close(), accounts.close(), streams.close()])),
  }
}
