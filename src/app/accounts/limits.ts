import { openQuotas, type QuotaLimits, type Quotas } from '../../cache/quotas.ts'
import type { Progress } from '../../cache/progress.ts'
import type { Config } from '../../config.ts'
import type { Limiter } from '../../http/api/limits/limiter.ts'
import { everyKind, kinds, ownedKinds } from '../../events/kinds.ts'
import { limitRegistrations } from '../../http/accounts/register.ts'
import { findUsage } from '../../queries/accounts/quota.ts'
import { type ImageStore, openImageStore } from '../../security/images.ts'
import type { Ledger } from '../log/ledger.ts'

const limitsOf = (config: Config): QuotaLimits => ({
  ...everyKind(ownedKinds, (kind) => config[kinds[kind].quota.setting]),
  image: config.QUOTA_IMAGE_MB * 1e6,
})

/** ms until something that was created counts as in the tables; while they lag more, a quota may be exceeded */
const longestLag = 60_000

/** Opens what limits accounts, as the settings have it. */
export const openAccountLimits = (
  { config, db, keys, reader }: Pick<Ledger, 'config' | 'db' | 'keys' | 'reader'>,
  { wait }: Pick<Progress, 'wait'>,
  limiter: Limiter,
) => {
  const quotas = openQuotas({
    limits: limitsOf(config),
    used: (account, kind) => findUsage(reader, account, kind),
    projected: (position) => wait(position, longestLag),
  })
  return {
    quotas,
    imageStore: withQuota(openImageStore(db, keys), quotas),
    countRegistration: limitRegistrations(limiter, {
      perAddress: config.REGISTRATIONS_PER_ADDRESS,
      total: config.REGISTRATIONS_PER_HOUR,
    }),
  }
}

/** Returns an image store that keeps to the quotas. */
export const withQuota = (images: Pick<ImageStore, 'save'>, quotas: Quotas): Pick<ImageStore, 'save'> => ({
  save: async (account, image) => {
    const end = await quotas.reserve(account, 'image', image.length)
    return images.save(account, image).finally(end)
  },
})
