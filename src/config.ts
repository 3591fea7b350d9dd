import { resolve } from 'node:path'
import { z } from 'zod'
import { OperatorError } from './lib/operatorerror.ts'
import { abuseSettings, blockListProblems } from './app/settings/abuse.ts'
import { domainCheckOf, domainProblems, domainSettings } from './app/settings/domains.ts'
import { kafkaSettings, missingKafkaSettings } from './app/settings/kafka.ts'
import { limitSettings } from './app/settings/limits.ts'
import { mailSettings, missingMailSettings } from './app/settings/mail.ts'
import { pageSettings } from './app/settings/pages.ts'
import { signInProblems, signInSettings } from './app/settings/signin.ts'
import { serviceSettings } from './app/settings/service.ts'
import { missingStorageSettings, storageSettings } from './app/settings/storage.ts'

/** Every setting, by the name of its environment variable. `describe` is its row in the documentation. */
export const settings = {
  ...serviceSettings,
  ...storageSettings,
  ...kafkaSettings,
  ...limitSettings,
  ...signInSettings,
  ...mailSettings,
  ...domainSettings,
  ...pageSettings,
  ...abuseSettings,
} as const

const Environment = z.object(settings).superRefine((given, context) => {
  const { ROLES, KAFKA_BROKERS, DATABASE_URL } = given
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['ROLES'], message })
  if (ROLES.has('http') && !ROLES.has('relay'))
    refuse('must include relay with http: only this process can forward the clicks it records')
  if (!ROLES.has('projector') && DATABASE_URL === undefined)
    refuse('must include projector unless DATABASE_URL is set: no other process can use the embedded database')
  if (ROLES.size === 1 && ROLES.has('recorder') && KAFKA_BROKERS.length === 0)
    refuse('must not be recorder alone without KAFKA_BROKERS: the relay records the clicks then')
  for (const [name, message] of [
    ...missingStorageSettings(given),
    ...missingKafkaSettings(given),
    ...missingMailSettings(given),
    ...signInProblems(given),
    ...domainProblems(given),
    ...blockListProblems(given),
  ])
    context.addIssue({ code: 'custom', path: [name], message })
})
export type Config = Readonly<
  Omit<z.output<typeof Environment>, 'BASE_URL' | 'DOMAIN_CHECK' | 'NEW_SECRET' | 'OPERATOR' | 'SECRET'> & {
    /** undefined: http://localhost and the port of the server */
    BASE_URL: string | undefined
    DOMAIN_CHECK: 'txt' | 'dns' | 'off'
    NEW_SECRET: string | undefined
    /** undefined: see `operatorOf` */
    OPERATOR: string | undefined
    /** undefined: see `loadSecret` */
    SECRET: string | undefined
  }
>

/**
 * Some settings are invalid. The message has a line for each of them, with what would be right; when there are several,
 * after their number.
 */
export class BadConfig extends OperatorError {
  override readonly name = 'BadConfig'
}

export type Variables = Readonly<Record<string, string | undefined>>

const describeProblems = (issues: readonly z.core.$ZodIssue[]) => {
  const lines = issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  return lines.length === 1 ? lines[0] : [`${lines.length} settings are wrong:`, ...lines].join('\n')
}

/** Returns the settings in environment variables; an empty one counts as not set. Throws `BadConfig`. */
export const readConfig = (variables: Variables): Config => {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success) throw new BadConfig(describeProblems(parsed.error.issues))
  const { BASE_URL, DOMAIN_CHECK: _, NEW_SECRET, OPERATOR, SECRET, ...rest } = parsed.data
  return Object.freeze({
    ...rest,
    DATA_DIR: resolve(rest.DATA_DIR),
    BASE_URL,
    DOMAIN_CHECK: domainCheckOf(parsed.data),
    NEW_SECRET,
    OPERATOR,
    SECRET,
  })
}
