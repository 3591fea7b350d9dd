import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressBlock, clientAddress, type TrustedProxies } from '../../lib/address.ts'
import type { Target } from '../../queries/target.ts'
import { checkPassword } from '../../security/passwords.ts'
import { unreadable } from '../../security/seal.ts'
import type { Limiter } from '../api/limiter.ts'
import { readForm } from './form.ts'
import type { SendPage } from './page.ts'
import { pages, passwordPage, type TextOf } from './pages.ts'
import { seeOther } from './responses.ts'
import { counted } from './texts/languages.ts'
import { unlockCookie } from './unlock.ts'

export interface PasswordFormOptions {
  readonly sendPage: SendPage
  readonly limiter: Limiter
  /** key of the signature in the cookie */
  readonly pepper: Buffer
  readonly trustProxy: TrustedProxies
  readonly secureCookies: () => boolean
  /** Reports a request that is not a visit to the metrics: a HEAD request, a wrong password. */
  readonly notCounted: (what: 'head' | 'password') => void
}

/** bytes: 1,024 characters of three bytes, percent-encoded, and some more */
const formLimit = 16_384
const wrongTries = { limit: 10, seconds: 600 }

/** Answers the posted password of a link: 303 and a cookie when it is right, otherwise the form again with 401, 429 after ten wrong ones, 503 when it cannot be checked. */
export const createPasswordForm =
  ({ sendPage, limiter, pepper, trustProxy, secureCookies, notCounted }: PasswordFormOptions) =>
  async (req: IncomingMessage, res: ServerResponse, { link, password }: Target) => {
    if (password === null) return seeOther(req, res)
    // the key of the hash is missing: no password can be checked until the operator restores it or the owner sets another
    if (password === unreadable) return sendPage(req, res, pages.unavailable)
    const key = `password ${link} ${addressBlock(clientAddress(req, trustProxy))}`
    const form = await readForm(req, formLimit)
    if (!form) return sendPage(req, res, pages.passwordTooLong)
    // counted before it is checked, so that parallel tries do not slip through; a right one is taken back
    const { over, wait } = await limiter.count(key, wrongTries.limit, wrongTries.seconds)
    if (over) {
      const headers = { 'Retry-After': String(wait) }
      const minutes = Math.max(1, Math.ceil(wait / 60))
      const problem: TextOf = (texts) => counted(texts, texts.password.tooManyAttempts, minutes)
      return sendPage(req, res, passwordPage(429, problem, headers))
    }
    if (!(await checkPassword(form.get('password') ?? '', password))) {
      notCounted('password')
      return sendPage(
        req,
        res,
        passwordPage(401, (texts) => texts.password.wrong),
      )
    }
    await limiter.uncount(key)
    return seeOther(req, res, unlockCookie(pepper, link, password, Date.now(), secureCookies()))
  }
