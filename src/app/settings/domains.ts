import { isIP } from 'node:net'
import { z } from 'zod'
import { isLoopback } from '../../lib/loopback.ts'
import { parseUrl } from '../../lib/url.ts'
import { host, list } from './parsers.ts'

/** Returns whether an address leads to this machine only. One that cannot be read leads nowhere else. */
const isLocal = (address: string | undefined) => {
  const url = parseUrl(address ?? '')
  return !url || isLoopback(url.hostname)
}

interface DomainSettings {
  readonly BASE_URL?: string | undefined
  readonly DOMAIN_CHECK?: 'txt' | 'dns' | 'off' | undefined
  readonly DOMAIN_TARGETS: readonly string[]
  readonly REGISTRATION: string
}

/** Returns what DOMAIN_CHECK is when it is not set. */
export const domainCheckOf = ({ BASE_URL, DOMAIN_CHECK, DOMAIN_TARGETS }: Omit<DomainSettings, 'REGISTRATION'>) =>
  DOMAIN_CHECK ?? (DOMAIN_TARGETS.length > 0 ? 'dns' : isLocal(BASE_URL) ? 'off' : 'txt')

/** Returns what is wrong with the settings together, by the setting to change. */
export const domainProblems = (given: DomainSettings): readonly (readonly [string, string])[] => {
  const { BASE_URL, DOMAIN_CHECK, DOMAIN_TARGETS, REGISTRATION } = given
  if (DOMAIN_CHECK === 'dns' && DOMAIN_TARGETS.length === 0)
    return [['DOMAIN_CHECK', 'must not be dns without DOMAIN_TARGETS: nothing says where domains have to point']]
  if (DOMAIN_CHECK !== 'off' || REGISTRATION !== 'open' || isLocal(BASE_URL)) return []
  return [
    [
      'DOMAIN_CHECK',
      'must not be off with open registration: anyone could take any host. Remove it, or set REGISTRATION=closed',
    ],
  ]
}

/** How branded domains are verified. */
export const domainSettings = {
  DOMAIN_TARGETS: list
    .refine((all) => all.every((one) => isIP(one) > 0 || host.test(one)), {
      message: 'must be host names or IP addresses, for example go.example.com, 203.0.113.7',
    })
    .describe('host names and addresses that branded domains must point to, separated by commas'),
  DOMAIN_CHECK: z
    .enum(['txt', 'dns', 'off'], 'must be one of txt, dns, off')
    .optional()
    .describe(
      'what makes a branded domain serve: `txt`, a TXT record with the token of the account; `dns`, also that it points to DOMAIN_TARGETS; `off`, nothing. Default `dns` with DOMAIN_TARGETS, else `off` while BASE_URL is on this machine, else `txt`',
    ),
  OWN_HOSTS: list
    .refine((all) => all.every((one) => host.test(one)), {
      message: 'must be host names, for example www.example.com, example.net',
    })
    .describe('other hosts of yours, which no account can have as a branded domain, separated by commas'),
} as const
