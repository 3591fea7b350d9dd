import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { createDashboard, type DashboardOptions } from '../../http/dashboard.ts'
import { hasAccounts } from '../../queries/accounts/account.ts'
import { issuerNameOf } from '../settings/signin.ts'
import { dashboardHosts } from './hosts.ts'
import type { Reader } from '../../queries/reader.ts'

/** In a build, next to `app`; in a checkout, what a build has made. */
const builtWeb = () =>
  [join(import.meta.dirname, '../../web'), join(import.meta.dirname, '../../../dist/web')].find((folder) =>
    existsSync(join(folder, 'manifest.json')),
  ) ?? ''

/**
 * Returns a function that says whether the service has no account yet. An account is never removed: once there is one,
 * the tables are not asked again.
 */
const emptiness = (reader: Reader) => {
  let found = false
  return async () => {
    // while the tables cannot be read, the page for signing in is as good
    found ||= await hasAccounts(reader).catch(() => true)
    return !found
  }
}

/** Opens what serves the dashboard, as the settings have it. */
export const openDashboard = ({
  config,
  baseUrl,
  reader,
  web = builtWeb(),
  ...pages
}: Pick<DashboardOptions, 'domains' | 'sendPage' | 'handle'> & {
  readonly config: Config
  readonly baseUrl: string
  readonly reader: Reader
  readonly web: string | undefined
}) =>
  createDashboard({
    ...pages,
    folder: web,
    baseUrl: () => baseUrl,
    isDashboardHost: dashboardHosts(config),
    isEmpty: emptiness(reader),
    registration: config.REGISTRATION === 'open' && config.PASSWORD_SIGN_IN === 'on',
    mail: config.SMTP_URL !== undefined,
    issuer: issuerNameOf(config),
    proxy: config.AUTH_PROXY_HEADER !== undefined,
    passwords: config.PASSWORD_SIGN_IN === 'on',
  })
