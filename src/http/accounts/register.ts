import { randomInt } from 'node:crypto'
import { account } from '../../commands/accounts/account.ts'
import type { Account } from '../../commands/accounts/state.ts'
import { register, Registration } from '../../commands/accounts/register.ts'
import { refuseTaken } from '../../commands/claims/taken.ts'
import { stranger, type Turn } from '../../security/passwords.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { fail, requirePasswords } from '../api/errors.ts'
import { countNetworks, type Limiter } from '../api/limits/limiter.ts'
import { endpoint, type Call, type Route } from '../api/route.ts'
import type { Mails } from './mails.ts'
import { newKey } from '../../security/apikeys.ts'
import { accountContract } from './contract/account.ts'

const hour = 3600
/** share of all registrations that is reserved for networks without one in this hour */
const kept = 0.1

/** Registrations in an hour, 0 = unlimited: of one address block, and in total. */
export interface RegistrationLimits {
  readonly perAddress: number
  readonly total: number
}

/**
 * Returns a function that counts the registration of an address block, and fails with 429 when there are too many.
 * Independent of the rate limit: an account is permanent, and its password costs a hash.
 */
export const limitRegistrations =
  (limiter: Limiter, { perAddress, total }: RegistrationLimits) =>
  async (from: string): Promise<void> => {
    const refuse = (wait: number, whose: 'network' | 'service') => {
      const minutes = Math.ceil(wait / 60)
      fail(429, 'too_many_requests', minutes === 1 ? { what: `${whose}_minute` } : { what: whose, minutes }, {
        'Retry-After': String(wait),
      })
    }
    const own = await countNetworks(limiter, 'register', from, perAddress || Infinity, hour)
    if (own.over) refuse(own.wait, 'network')
    if (total === 0) return
    const all = await limiter.count('register', own.isFirst ? total : Math.ceil(total * (1 - kept)), hour)
    if (!all.over) return
    // a refused registration takes no place from others
    await limiter.uncount('register')
    refuse(all.wait, 'service')
  }

/** Dependencies of a registration. */
export interface RegisterServices {
  /** Counts a registration from an address block. Fails with 429 when there are too many. */
  readonly countRegistration: (from: string) => Promise<void>
  /** Hashes the new password of an account or a link. */
  readonly hashNewPassword: (password: string, turn: Turn) => Promise<string>
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  /** whether people may sign in with passwords */
  readonly passwordSignIn: boolean
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
}

/**
 * Orders the mail that confirms a new address, or informs the owner of a taken one. Response and duration are the same
 * in both cases, so that they do not show whether an account exists. A username is public anyway, in the address of its
 * lists.
 */
const registerByMail = async (
  {
    body: { email, username, password, timezone },
    from,
    lang,
    reader,
  }: Pick<Call<unknown, unknown, Registration>, 'body' | 'from' | 'lang' | 'reader'>,
  mails: Mails,
  { hashNewPassword }: Pick<RegisterServices, 'hashNewPassword'>,
) => {
  if (username !== undefined && (await findAccountBy(reader, { username }))) refuseTaken('username')
  // the page of the link asks for the password again; a process of an earlier release creates the account with this one
  const hash = await hashNewPassword(password, stranger(from))
  await mails.order({ kind: 'register', lang, to: email, username, timezone, password: hash })
  return {
    message: 'Open the link that was sent to this e-mail address. Its page creates the account and shows the API key.',
  }
}

/** Answers a registration that was interrupted. Its key was never shown: replaces it, each time under new ids. */
const newKeyFor = async (
  { id, state: { username } }: { readonly id: number; readonly state: Pick<Account, 'username'> },
  part: Call['part'],
  pepper: Buffer,
) => {
  const { key, hash, id: keyId } = newKey(pepper)
  await part(randomInt(2 ** 47)).write(account, { type: 'IssueKey', id, apiKey: { key: keyId, hash, expires: null } })
  return { id, username: username ?? '', api_key: key }
}

export const registerRoutes = (services: RegisterServices): readonly Route[] => [
  endpoint(accountContract, 'POST /register', {
    public: true,
    ownPagesOnly: true,
    body: Registration,
    run: async ({ body, create, created, part, from, lang, reader }) => {
      const { pepper, countRegistration, hashNewPassword, mails } = services
      requirePasswords(services)
      const before = await created('account', account)
      if (before) return newKeyFor(before, part, pepper)
      // after the fields were checked: an invalid request is no registration
      await countRegistration(from)
      if (mails) return registerByMail({ body, from, lang, reader }, mails, services)
      return register(
        pepper,
        body,
        (make) => create('account', account, make),
        (password) => hashNewPassword(password, stranger(from)),
      )
    },
  }),
]
