import { account } from '../commands/account.ts'
import { register, Registration } from '../commands/register.ts'
import { fail } from './api/errors.ts'
import type { Limiter } from './api/limiter.ts'
import { route } from './api/route.ts'

const hour = 3600

/** Registrations in an hour, 0 = unlimited: of one address block, and of all together. */
export interface RegistrationLimits {
  readonly perAddress: number
  readonly total: number
}

/**
 * Returns a function that counts the registration of an address block, and fails with 429 when there are too many. It has nothing to do with
 * the rate limit: an account is for good, and its password costs a hash.
 */
export const limitRegistrations =
  (limiter: Limiter, { perAddress, total }: RegistrationLimits) =>
  async (from: string): Promise<void> => {
    const count = async (key: string, limit: number, whose: string) => {
      if (limit === 0) return
      const { over, wait } = await limiter.count(key, limit, hour)
      const minutes = Math.ceil(wait / 60)
      if (over)
        fail(
          429,
          `There were too many registrations ${whose}. Try again in ${minutes === 1 ? '1 minute' : `${minutes} minutes`}.`,
          {
            'Retry-After': String(wait),
          },
        )
    }
    await count(`register ${from}`, perAddress, 'from your network')
    await count('register', total, 'at this service')
  }

export const registerRoutes = [
  route({
    method: 'post',
    path: '/register',
    public: true,
    body: Registration,
    run: async ({ body, create, from }, { pepper, countRegistration, hashNewPassword }) => {
      // after the fields were checked: a mistake in them is no registration
      await countRegistration(from)
      return register(pepper, body, (make) => create('account', account, make), hashNewPassword)
    },
  }),
]
