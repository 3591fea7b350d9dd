import type { Cache } from '../../cache/cache.ts'
import { findHolder } from '../../commands/claims/writes.ts'
import { parseStreamId } from '../../events/streams.ts'
import { openEntrance } from '../../http/accounts/entrance.ts'
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
import { openIssuer } from '../../security/issuer.ts'
import { openSessions } from '../../security/sessions.ts'
import { openExports } from './exports.ts'
import type { Ledger } from '../log/ledger.ts'
import { issuerNameOf } from '../settings/signin.ts'
import { createOidcPages, type OidcPagesOptions } from '../../http/public/account/oidc.ts'
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

/** Where the issuer sends browsers back to, which it has to know letter by letter. */
export const redirectAddress = (baseUrl: string) => `${baseUrl}/oidc/callback`

/** Opens the issuer that signs people in, with OIDC_ISSUER. */
const openSignIn = (
  { config, db, handler, keys, store }: Pick<Ledger, 'config' | 'db' | 'handler' | 'keys' | 'store'>,
  progress: Cache['progress'],
  countRegistration: (from: string) => Promise<void>,
  baseUrl: string,
) => {
  const { OIDC_ISSUER, OIDC_CLIENT_ID = '', OIDC_EMAIL_VERIFIED_CLAIM: verified } = config
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
  const entrance = openEntrance({
    handler,
    nextId: idSequence(db, 'account'),
    progress,
    countRegistration,
    pepper: keys.service,
    registers: config.OIDC_REGISTRATION === 'on',
    linksByEmail: config.OIDC_LINK_VERIFIED_EMAIL === 'on',
    holderOf: async (name) => {
      const holder = await findHolder(store, handler.load, name)
      return holder && { account: parseStreamId(holder.stream).number, token: holder.token }
    },
  })
  return { issuer, entrance, issuerName: issuerNameOf(config) ?? '' }
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
  const signIn = openSignIn(ledger, progress, countRegistration, baseUrl)
  const links = openOneTimeLinks(db, keys.service)
  const { mails, close } = openMails(ledger, { links, limiter, baseUrl })
  const sessions = openSessions(db, keys.service, config.SESSION_DAYS, passwordSignIn)
  const cleanup = jobs.open('sessions', 'expired sessions are not deleted')
  const stopCleanup = repeat(cleanup.watching(sessions.deleteExpired), cleanupEvery, (error) =>
    log.error({ err: error }, 'expired sessions could not be deleted'),
  )
  const isFirst = async () => !(await hasAccounts(reader))
  const passwords = openAccountPasswords({ limiter, load: handler.load })
  const secondFactors = openSecondFactors({ limiter, sessions, pepper: keys.service })
  const ways = { passwordSignIn, sessions, serviceUrl: baseUrl }
  const own = { links, mails, passwords, progress, nextId: idSequence(db, 'account'), isFirst, ...ways }
  return {
    links,
    mails,
    issuer: signIn?.issuer,
    passwordSignIn,
    exports: openExports(ledger, progress),
    passwords,
    sessions,
    secondFactors,
    stepUps: openStepUps({ passwords, secondFactors }),
    pages: (pages: Omit<AccountPagesOptions, keyof typeof own>) => createAccountPages({ ...pages, ...own }),
    oidcPages: (pages: Omit<OidcPagesOptions, keyof typeof ways | keyof NonNullable<typeof signIn>>) =>
      signIn && createOidcPages({ ...pages, ...signIn, sessions, serviceUrl: baseUrl }),
    close: async () => void (await Promise.all([stopCleanup(), close()])),
  }
}
