import type { IncomingMessage, ServerResponse } from 'node:http'
import { otherSchemesOf } from '../../../commands/links/link.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../../lib/address.ts'
import type { Target } from '../../../queries/links/target.ts'
import { rememberRight, TooManyPasswords } from '../../../security/passwords.ts'
import { unreadable } from '../../../security/seal.ts'
import type { Limiter } from '../../api/limits/limiter.ts'
import { isFromOtherSite, readForm } from '../postedform.ts'
import { openGuesses } from '../../api/limits/guesses.ts'
import type { SendPage } from '../page/page.ts'
import { failurePage, otherSitePage, pages } from '../page/messages.ts'
import { passwordLimitPage, passwordPage } from './page.ts'
import { seeOther } from '../responses.ts'
import { unlockCookie } from './unlock.ts'

export interface PasswordFormOptions {
  readonly sendPage: SendPage
  readonly limiter: Limiter
  /** key of the signature in the cookie */
  readonly pepper: Buffer
  readonly trustProxy: TrustedProxies
  readonly secureCookies: () => boolean
  /** Reports a request that is not a visit to the metrics: a HEAD request, a wrong password. */
  readonly notCounted: (what: 'head' | 'password' | 'blocked') => void
}

/** bytes: 1,024 characters of three bytes, percent-encoded, and some more */
const formLimit = 16_384

/**
 * Answers the posted password of a link: 303 and a cookie when it is right, otherwise the form again with 401, 429
 * after too many wrong ones, 503 when it cannot be checked.
 */
export const createPasswordForm = ({
  sendPage,
  limiter,
  pepper,
  trustProxy,
  secureCookies,
  notCounted,
}: PasswordFormOptions) => {
  const isRight = rememberRight()
  const countGuess = openGuesses(limiter)

  return async (req: IncomingMessage, res: ServerResponse, target: Target) => {
    const { link, password } = target
    if (password === null) return seeOther(req, res)
    // the key of the hash is missing: no password can be checked until the operator restores it or the owner sets
    // another
    if (password === unreadable) return sendPage(req, res, failurePage('unavailable'))
    if (isFromOtherSite(req)) return sendPage(req, res, otherSitePage)
    const form = await readForm(req, formLimit)
    if (!form) return sendPage(req, res, pages.passwordTooLong)
    const entered = form.get('password') ?? ''
    const block = addressBlock(clientAddress(req, trustProxy))
    const { wait, end } = await countGuess({ link, block, password: entered })
    if (wait !== undefined) return sendPage(req, res, passwordLimitPage(wait))
    const right = await isRight(entered, password, block).catch(async (error: unknown) => {
      await end(false)
      if (error instanceof TooManyPasswords) return undefined
      throw error
    })
    if (right === undefined) return sendPage(req, res, failurePage('unavailable'))
    await end(!right)
    if (!right) {
      notCounted('password')
      return sendPage(req, res, passwordPage({ wrong: true, schemes: otherSchemesOf(target) }))
    }
    return seeOther(req, res, unlockCookie(pepper, link, password, Date.now(), secureCookies()))
  }
}
