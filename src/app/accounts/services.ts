import type { Cache } from '../../cache/cache.ts'
import { findHolder } from '../../commands/claims/writes.ts'
import { parseStreamId } from '../../events/streams.ts'
import { type Entrance, openEntrance } from '../../http/accounts/entrance.ts'
import { openPasskeys } from '../../http/accounts/passkey/ceremony.ts'
import { openAccountPasswords } from '../../http/accounts/password.ts'
import type { Limiter } from '../../http/api/limits/limiter.ts'
import { createMails } from '../../http/accounts/mails.ts'
import { openSecondFactors } from '../../http/accounts/secondfactor.ts'
import { openStepUps } from '../../http/accounts/stepup.ts'
import { oneTimeAddress } from '../../http/accounts/onetimeaddress.ts'
import { type AccountPagesOptions, createAccountPages } from '../../http/public/account/account.ts'
import { mailText } from '../../http/public/account/mails.ts'
import { startMails } from '../jobs/mail/mail.ts'
import type { repeat as repeatWork } from '../jobs/repeat.ts'
import { idSequence } from '../../postgres/ids.ts'
import { hasAccounts } from '../../queries/accounts/account.ts'
import { type OneTimeLinks, openOneTimeLinks } from '../../security/onetimelinks.ts'
import { openOutbox } from '../../security/outbox.ts'
import { openAuthProxy } from '../../security/authproxy.ts'
import { openIssuer } from '../../security/issuer.ts'
import { openPasskeyUses } from '../../security/passkeys.ts'
import { openSessions } from '../../security/sessions.ts'
import { openExports } from './exports.ts'
import type { Ledger } from '../log/ledger.ts'
import { issuerNameOf } from '../settings/signin.ts'
import { createProxyPages } from '../../http/public/account/proxy.ts'
import { createOidcPages, type OidcPagesOptions } from '../../http/public/account/oidc.ts'
import { inNetworks } from '../../lib/networks.ts'
import type { PublicHandler } from '../../http/public/responses.ts'
import { describeSmtpError, openSmtp } from './smtp.ts'

/** ms in which at most one problem with mails is logged: while the mail server is down, each mail has one */
const quiet = 60_000
/** ms between deletions of expired sessions */
const cleanupEvery = 3_600_000

/** Starts to send mails, with SMTP_URL. */
const openMails = (
  { config, db, handler, jobs, keys, log }: Pick<Ledger, 'config' | 'db' | 'handler' | 'jobs' | 'keys' | 'log'>,
  { links, limiter, baseUrl }: { readonly links: OneTimeLinks; readonly limiter: Limiter; readonly baseUrl: string },
) => {
  const { SMTP_URL, SMTP_FROM = '', OPERATOR_NAME } = config
  if (SMTP_URL === undefined) return { mails: undefined, close: async () => {} }
  const { host, hostname } = new URL(baseUrl)
  const smtp = openSmtp(SMTP_URL, SMTP_FROM, hostname)
  const outbox = openOutbox(db, keys.service)
  const [server, reading] = [jobs.open('mail', 'no mail is sent'), jobs.open('outbox', 'mails are not read')]
  let logged = -Infinity
  const sending = startMails({
    outbox,
    links,
    handler,
    pepper: keys.service,
    textOf: (name, lang, link) => mailText(name, lang, { host, operator: OPERATOR_NAME }, link),
    addressOf: (kind, token) => oneTimeAddress(baseUrl, kind, token),
    send: smtp.send,
    sending: { ...server, failed: (error) => server.failed(Object.values(describeSmtpError(error)).join(' ').trim()) },
    watching: reading.watching,
    onProblem: (error, what) => {
      if (performance.now() - logged < quiet) return
      logged = performance.now()
      log.warn({ problem: describeSmtpError(error) }, what)
    },
  })
  return {
    mails: createMails({ outbox, limiter, pepper: keys.service, onOrder: sending.wake }),
    close: async () => {
      await sending.close()
      smtp.close()
    },
  }
}

/** What the pages of sign-ins by others need besides what is opened here. */
type ByOthers = Omit<OidcPagesOptions, 'authProxy' | 'entrance' | 'issuer' | 'issuerName' | 'serviceUrl' | 'sessions'>

/** Returns what finds the account that has a name, and the token of its claim. */
const holderOf =
  ({ handler, store }: Pick<Ledger, 'handler' | 'store'>) =>
  async (name: Parameters<typeof findHolder>[2]) => {
    const holder = await findHolder(store, handler.load, name)
    return holder && { account: parseStreamId(holder.stream).number, token: holder.token }
  }

/** Where the issuer sends browsers back to, which it has to know letter by letter. */
export const redirectAddress = (baseUrl: string) => `${baseUrl}/oidc/callback`

/** Returns what opens the entrance of people whom others sign in. */
const entrances =
  (
    { db, handler, keys, store }: Pick<Ledger, 'db' | 'handler' | 'keys' | 'store'>,
    progress: Cache['progress'],
    countRegistration: (from: string) => Promise<void>,
  ) =>
  (registers: boolean, linksByEmail: boolean): Entrance =>
    openEntrance({
      handler,
      nextId: idSequence(db, 'account'),
      progress,
      countRegistration,
      pepper: keys.service,
      registers,
      linksByEmail,
      holderOf: holderOf({ handler, store }),
    })

/** Opens the proxy in front that signs people in, with AUTH_PROXY_HEADER: an address alone links nobody. */
const openProxied = (
  { AUTH_PROXY_HEADER: header, AUTH_PROXY_NETWORKS, AUTH_PROXY_REGISTRATION }: Ledger['config'],
  entranceWith: ReturnType<typeof entrances>,
) =>
  header === undefined
    ? undefined
    : {
        authProxy: openAuthProxy(header, inNetworks(AUTH_PROXY_NETWORKS)),
        entrance: entranceWith(AUTH_PROXY_REGISTRATION === 'on', false),
      }

/** Opens the issuer that signs people in, with OIDC_ISSUER. */
const openSignIn = (config: Ledger['config'], entranceWith: ReturnType<typeof entrances>, baseUrl: string) => {
  const { OIDC_ISSUER, OIDC_CLIENT_ID = '', OIDC_EMAIL_VERIFIED_CLAIM: verified } = config
  const { OIDC_LINK_VERIFIED_EMAIL, OIDC_REGISTRATION } = config
  if (OIDC_ISSUER === undefined) return undefined
  const issuer = openIssuer({
    issuer: OIDC_ISSUER,
    clientId: OIDC_CLIENT_ID,
    clientSecret: config.OIDC_CLIENT_SECRET,
    scopes: config.OIDC_SCOPES,
    redirect: redirectAddress(baseUrl),
    claims: {
      email: config.OIDC_EMAIL_CLAIM,
      verified: verified === 'always' ? undefined : verified,
      name: config.OIDC_NAME_CLAIM,
    },
  })
  return { issuer, entrance: entranceWith(OIDC_REGISTRATION === 'on', OIDC_LINK_VERIFIED_EMAIL === 'on') }
}

/**
 * Opens the services of accounts: passwords, sessions, mails to owners, links that work once, and exports.
 */
export const openAccountServices = (
  ledger: Pick<Ledger, 'config' | 'db' | 'handler' | 'jobs' | 'keys' | 'log' | 'pool' | 'reader' | 'store' | 'tables'>,
  { progress }: Pick<Cache, 'progress'>,
  { limiter, repeat }: { readonly limiter: Limiter; readonly repeat: typeof repeatWork },
  countRegistration: (from: string) => Promise<void>,
  baseUrl: string,
) => {
  const { config, db, handler, jobs, keys, log, reader } = ledger
  const passwordSignIn = config.PASSWORD_SIGN_IN === 'on'
  const entranceWith = entrances(ledger, progress, countRegistration)
  const signIn = openSignIn(config, entranceWith, baseUrl)
  const proxied = openProxied(config, entranceWith)
  const issuerName = issuerNameOf(config) ?? ''
  const links = openOneTimeLinks(db, keys.service)
  const { mails, close } = openMails(ledger, { links, limiter, baseUrl })
  const sessions = openSessions(db, keys.service, config.SESSION_DAYS, passwordSignIn)
  const cleanup = jobs.open('sessions', 'expired sessions are not deleted')
  const stopCleanup = repeat(cleanup.watching(sessions.deleteExpired), cleanupEvery, (error) =>
    log.error({ err: error }, 'expired sessions could not be deleted'),
  )
  const isFirst = async () => !(await hasAccounts(reader))
  const passwords = openAccountPasswords({ limiter, load: handler.load })
  const passkeyUses = openPasskeyUses(db)
  const passkeys = openPasskeys({ baseUrl, holderOf: holderOf(ledger), log, pepper: keys.service, uses: passkeyUses })
  const secondFactors = openSecondFactors({ limiter, sessions, pepper: keys.service })
  const ways = { passwordSignIn, sessions, serviceUrl: baseUrl }
  const own = { links, mails, passwords, progress, nextId: idSequence(db, 'account'), isFirst, ...ways }
  const services = { links, mails, passkeys, passkeyUses, passwordSignIn, passwords, sessions, secondFactors }
  return {
    services: {
      ...services,
      authProxy: proxied?.authProxy,
      proxy: proxied?.entrance,
      issuer: signIn?.issuer,
      exports: openExports(ledger, progress),
      stepUps: openStepUps(services),
    },
    pages: (pages: Omit<AccountPagesOptions, keyof typeof own> & ByOthers) => {
      const accountPages = createAccountPages({ ...pages, ...own })
      return proxied
        ? createProxyPages({ ...pages, ...proxied, issuerName, sessions, serviceUrl: baseUrl }, accountPages)
        : accountPages
    },
    /** below the part of the path */
    oidcPages: (pages: ByOthers): Readonly<Record<string, PublicHandler>> =>
      signIn
        ? {
            '/oidc/': createOidcPages({
              ...pages,
              ...signIn,
              issuerName,
              sessions,
              serviceUrl: baseUrl,
              authProxy: undefined,
            }),
          }
        : {},
    close: async () => void (await Promise.all([stopCleanup(), close()])),
  }
}
