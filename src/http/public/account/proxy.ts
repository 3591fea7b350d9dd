import { proxiedPerson } from '../../../security/authproxy.ts'
import { NotSignedIn } from '../../../security/notsignedin.ts'
import { addressBlock, clientAddress } from '../../../lib/address.ts'
import { placeOf } from '../../accounts/flow.ts'
import { failureOf, Failure } from '../../api/errors.ts'
import { countNetworks } from '../../api/limits/limiter.ts'
import { pages, tooManyRequestsPage } from '../page/messages.ts'
import type { PublicHandler } from '../responses.ts'
import { hindrancePage } from './hindrance.ts'
import { leadTo, mayEnter, type OidcPagesOptions, signInAs } from './oidc.ts'

export type ProxyPagesOptions = Omit<OidcPagesOptions, 'issuer' | 'pepper'>

const rate = { limit: 200, seconds: 600 }

/** Serves `/account/proxy`, where the person whom the proxy names signs in, and passes on other requests. */
export const createProxyPages =
  (options: ProxyPagesOptions, others: PublicHandler): PublicHandler =>
  async (req, res) => {
    const { authProxy, domains, isDashboardHost, issuerName, limiter, log, sendPage, trustProxy } = options
    const [path = '', search] = (req.url ?? '').split('?')
    const { host = '' } = req.headers
    if (path !== '/account/proxy' || !isDashboardHost(host) || domains.byHost(host)) return others(req, res)
    try {
      if (req.method !== 'GET') return sendPage(req, res, pages.readOnly)
      const from = addressBlock(clientAddress(req, trustProxy))
      const { over, wait } = await countNetworks(limiter, 'proxy', from, rate.limit, rate.seconds)
      if (over) return sendPage(req, res, tooManyRequestsPage(wait))
      const subject = authProxy?.subjectOf(req)
      if (!subject)
        throw new NotSignedIn(
          'proxy',
          subject === undefined
            ? 'the request came from outside of AUTH_PROXY_NETWORKS'
            : 'the request has not one AUTH_PROXY_HEADER with a name of at most 255 characters',
        )
      const to = placeOf(new URLSearchParams(search).get('to'))
      if (!(await mayEnter(req, options))) return void leadTo(res, to, [])
      // the proxy cannot be asked to sign the person in again: a request through it counts
      const cookies = await signInAs(req, proxiedPerson(subject), from, options, { confirmed: true })
      leadTo(res, to, cookies)
    } catch (error) {
      if (error instanceof NotSignedIn) {
        log.warn({ why: error.why, problem: error.message }, 'a sign-in by the proxy failed')
        return sendPage(req, res, hindrancePage(error, issuerName))
      }
      if (error instanceof Failure && error.status === 429)
        return sendPage(req, res, tooManyRequestsPage(Number(failureOf(error).headers['Retry-After'] ?? 60)))
      return options.sendFailure(req, res, error)
    }
  }
