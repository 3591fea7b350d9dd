import { z } from 'zod'
import { isAllowable } from '../../lib/schemes.ts'
import { safeTargetUrl } from '../../lib/url.ts'
import { list, path } from './parsers.ts'

const isWebAddress = (text: string) => {
  const safe = safeTargetUrl(text)
  return safe.ok && safe.entered === text
}

/** A name and a value of a header: RFC 9110, 5.1 and 5.5. */
const header = /^([!#$%&'*+.^_`|~\w-]+):([\x20-\x7E]+)$/

/** Returns the settings of lists that do not fit together, with what is wrong. */
export const blockListProblems = ({
  BLOCKLIST_URL: url,
  BLOCKLIST_HEADER: key,
}: {
  readonly BLOCKLIST_URL?: string | undefined
  readonly BLOCKLIST_HEADER?: Readonly<Record<string, string>> | undefined
}): readonly (readonly [name: string, message: string])[] =>
  key === undefined || url?.startsWith('https:')
    ? []
    : [['BLOCKLIST_HEADER', 'needs BLOCKLIST_URL with https: on http everybody on the way reads it']]

/** What links may and must not lead to. */
export const abuseSettings = {
  ALLOWED_SCHEMES: list
    .transform((all) => all.map((one) => one.toLowerCase().replace(/:$/, '')))
    .refine((all) => all.every(isAllowable), {
      message:
        'must be schemes of apps, for example myapp, otherapp; never javascript, data, file, blob, vbscript or their like',
    })
    .describe(
      'schemes of apps that links may lead to besides http, https, mailto, tel, sms and geo, separated by commas: `myapp`',
    ),
  BLOCKLIST_FILE: path.describe(
    'file with hosts and patterns that links must not lead to, one a line; read again when it changes',
  ),
  BLOCKLIST_URL: z
    .string()
    .refine(isWebAddress, 'must be an http or https address of a list of hosts or addresses')
    .optional()
    .describe(
      'address of a public list of harmful hosts, as a hosts file, or of harmful addresses, one a line; fetched every six hours',
    ),
  BLOCKLIST_HEADER: z
    .string()
    .transform((text, context) => {
      const [, name = '', given = ''] = header.exec(text) ?? []
      const value = given.trim()
      if (value === '') context.addIssue('must be a name and a value, for example `Auth-Key: 1234`')
      return { [name]: value }
    })
    .optional()
    .describe('header that `BLOCKLIST_URL` is asked with, such as `Auth-Key: 1234`, where its server wants a key'),
  ALLOWLIST_FILE: path.describe(
    'file with hosts and patterns that neither `BLOCKLIST_FILE` nor `BLOCKLIST_URL` blocks, one a line; read again when it changes',
  ),
} as const
