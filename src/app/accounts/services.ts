import type { Cache } from '../../cache/cache.ts'
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
import { openPasskeyUses } from '../../security/passkeys.ts'
import { openScim } from './directory.ts'
import { openExports } from './exports.ts'
import type { Ledger } from '../log/ledger.ts'
import { entrances, holderOf, openProxied, openSignedIn, openSignIn } from './signin.ts'
import { issuerNameOf } from '../settings/signin.ts'
import { createProxyPages } from '../../http/public/account/proxy.ts'
import { createBackchannel } from '../../http/public/account/backchannel.ts'
import { createOidcPages, type OidcPagesOptions } from '../../http/public/account/oidc.ts'
import type { PublicHandler } from '../../http/public/responses.ts'
import { describeSmtpError, openSmtp } from './smtp.ts'

/** ms in which at most one problem with mails is logged: while the mail server is down, each mail has one */
const quiet = 60_000

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
type ByOthers = Omit<
  OidcPagesOptions,
  'authProxy' | 'entrance' | 'groupRoles' | 'issuer' | 'issuerName' | 'serviceUrl' | 'sessions'
>

/**
 * Opens the services of accounts: passwords, sessions, mails to owners, links that work once, and exports.
 */
export const openAccountServices = (
  ledger: Omit<Ledger, 'close' | 'metrics'>,
  cache: Pick<Cache, 'pending' | 'progress'>,
  { limiter, repeat }: { readonly limiter: Limiter; readonly repeat: typeof repeatWork },
  countRegistration: (from: string) => Promise<void>,
  baseUrl: string,
) => {
  const { config, db, handler, keys, log, reader } = ledger
  const { progress } = cache
  const passwordSignIn = config.PASSWORD_SIGN_IN === 'on'
  const entranceWith = entrances(ledger, progress, countRegistration)
  const signIn = openSignIn(config, entranceWith, baseUrl)
  const proxied = openProxied(config, entranceWith)
  const links = openOneTimeLinks(db, keys.service)
  const { mails, close } = openMails(ledger, { links, limiter, baseUrl })
  const { groupRoles, sessions, stopCleanup } = openSignedIn(ledger, progress, signIn?.issuer, repeat)
  const ofIssuer = { issuerName: issuerNameOf(config) ?? '', sessions, serviceUrl: baseUrl }
  const scim = openScim(ledger, cache, { groupRoles: signIn && groupRoles, sessions }, baseUrl)
  const isFirst = async () => !(await hasAccounts(reader))
  const passwords = openAccountPasswords({ limiter, load: handler.load })
  const passkeyUses = openPasskeyUses(db)
  const passkeys = openPasskeys({ baseUrl, holderOf: holderOf(ledger), log, pepper: keys.service, uses: passkeyUses })
  const secondFactors = openSecondFactors({ limiter, sessions, pepper: keys.service })
  const ways = { passwordSignIn, sessions, serviceUrl: baseUrl, authProxy: proxied?.authProxy }
  const own = { links, mails, passwords, progress, nextId: idSequence(db, 'account'), isFirst, ...ways }
  const services = { links, mails, passkeys, passkeyUses, passwordSignIn, passwords, sessions, secondFactors }
  return {
    services: {
      ...services,
      authProxy: proxied?.authProxy,
      groupRoles,
      proxy: proxied?.entrance,
      issuer: signIn?.issuer,
      progress,
      exports: openExports(ledger, progress),
      stepUps: openStepUps(services),
    },
    pages: (pages: Omit<AccountPagesOptions, keyof typeof own> & ByOthers) => {
      const accountPages = createAccountPages({ ...pages, ...own })
      return proxied
        ? createProxyPages({ ...pages, ...proxied, ...ofIssuer, groupRoles: undefined }, accountPages)
        : accountPages
    },
    /** what issuers need, below the part of the path */
    issuerPages: (pages: ByOthers): Readonly<Record<string, PublicHandler>> => ({
      '/scim/': scim(pages),
      ...(signIn && {
        '/oidc/': createBackchannel(
          { ...pages, ...signIn, ...ofIssuer },
          createOidcPages({ ...pages, ...signIn, ...ofIssuer, groupRoles, authProxy: undefined }),
        ),
      }),
    }),
    close: async () => void (await Promise.all([stopCleanup(), close()])),
  }
}
