import type { IncomingMessage, ServerResponse } from 'node:http'
import { password as validPassword } from '../../../commands/accounts/register.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../../lib/address.ts'
import { ownEmail as validEmail } from '../../../lib/fields.ts'
import { clientOf, tokenOf } from '../../api/session.ts'
import { countNetworks, type Limiter } from '../../api/limits/limiter.ts'
import type { Cache } from '../../../cache/cache.ts'
import { type FormProblem, gonePage, tooMany } from './pages.ts'
import { createSteps } from './steps.ts'
import type { Posted, Step, StepOptions } from './writes.ts'
import { isFromOtherSite, readForm } from '../postedform.ts'
import type { SendPage } from '../page/page.ts'
import { otherSitePage, pages } from '../page/messages.ts'
import type { Redirect } from '../redirect.ts'
import type { PublicHandler } from '../responses.ts'
import { textsFor } from '../texts/languages.ts'

export interface AccountPagesOptions
  extends StepOptions, Pick<Redirect, 'handle' | 'sendFailure'>, Pick<Cache, 'domains'> {
  readonly sendPage: SendPage
  readonly limiter: Limiter
  readonly trustProxy: TrustedProxies
}

/** bytes: an address and a password of 1,024 characters, percent-encoded */
const formLimit = 32_768
const rate = { limit: 30, seconds: 600 }

const problemOf = (name: keyof Posted): FormProblem => ({
  status: 400,
  field: name,
  text: ({ account: { problems } }) => problems[name],
})

/**
 * Serves the pages of links that work once, below `/account/` on the hosts of the service. Opening a link changes
 * nothing and does not use it up: that takes the button of its page.
 */
export const createAccountPages = (options: AccountPagesOptions): PublicHandler => {
  const { authProxy, domains, limiter, sendFailure, sendPage, serviceUrl, trustProxy } = options
  const steps: Readonly<Record<string, Step>> = createSteps(options)

  const receive = async (req: IncomingMessage, res: ServerResponse, step: Step) => {
    const from = addressBlock(clientAddress(req, trustProxy))
    const { over, wait } = await countNetworks(limiter, 'account', from, rate.limit, rate.seconds)
    const posted = await readForm(req, formLimit)
    const [token, email, password] = ['t', 'email', 'password'].map((name) => posted?.get(name) ?? '') as [
      string,
      string,
      string,
    ]
    const again = async (problem: FormProblem) =>
      sendPage(req, res, (await step.show(token, problem, email)) ?? gonePage)
    if (over) return again(tooMany(wait))
    const address = validEmail.safeParse(email)
    if (step.asks.includes('email') && !address.success) return again(problemOf('email'))
    if (step.asks.includes('password') && !validPassword.safeParse(password).success)
      return again(problemOf('password'))
    return sendPage(
      req,
      res,
      (await step.act(
        token,
        { email: address.data ?? '', password },
        {
          lang: textsFor(req).lang,
          from,
          client: clientOf(req),
          token: tokenOf(req, serviceUrl),
          proxied: authProxy?.subjectOf(req) || undefined,
        },
      )) ?? gonePage,
    )
  }

  return async (req, res) => {
    const { headers, method, url = '' } = req
    const [path = '', query] = url.split('?')
    try {
      const step = Object.hasOwn(steps, path.slice('/account/'.length))
        ? steps[path.slice('/account/'.length)]
        : undefined
      if (!step || domains.byHost(headers.host ?? '')) return await options.handle(req, res)
      if (method === 'POST' && isFromOtherSite(req)) return sendPage(req, res, otherSitePage)
      if (method === 'POST') return await receive(req, res, step)
      if (method !== 'GET' && method !== 'HEAD') return sendPage(req, res, pages.methodNotAllowed)
      const token = new URLSearchParams(query).get('t') ?? ''
      return sendPage(req, res, (await step.show(token)) ?? gonePage)
    } catch (error) {
      return sendFailure(req, res, error)
    }
  }
}
