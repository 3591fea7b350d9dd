import { isIP } from 'node:net'
import { getPublicSuffix } from 'tldts'
import { z } from 'zod'
import { carry, must } from '../../lib/fields.ts'
import { problem } from '../../lib/problems/problem.ts'
import { safeTargetUrl } from '../../lib/url.ts'

const originProblem = (input: string, address: string) => {
  const { port, hostname, pathname, search, hash } = new URL(address)
  if (port || pathname !== '/' || search || hash || /[?#]/.test(input))
    return problem('wrong_address', { what: 'path' })
  const host = hostname.replace(/\.$/, '')
  if (isIP(host.replace(/^\[|\]$/g, ''))) return problem('wrong_address', { what: 'number' })
  return host.includes('.') && getPublicSuffix(host, { allowPrivateDomains: true }) !== host
    ? undefined
    : problem('wrong_address', { what: 'suffix' })
}
/** Scheme and host, in punycode; one trailing slash is dropped. */
export const origin = z.string(must('wrong_type', { what: 'string' })).transform((input, context) => {
  const checked = safeTargetUrl(input)
  const found = !/^https?:\/\//i.test(input)
    ? problem('wrong_address', { what: 'origin' })
    : checked.ok
      ? originProblem(input, checked.url)
      : checked.problem
  if (found || !checked.ok) {
    context.addIssue(carry(found ?? problem('wrong_address', { what: 'origin' })))
    return z.NEVER
  }
  const { protocol, hostname } = new URL(checked.url)
  return `${protocol}//${hostname.replace(/\.$/, '')}`
})
