import { randomUUID } from 'node:crypto'
import type { Progress } from '../../../cache/progress.ts'
import { account } from '../../../commands/accounts/account.ts'
import type { Account } from '../../../commands/accounts/state.ts'
import { Refused } from '../../../commands/decider.ts'
import type { Handler, NextId } from '../../../commands/handle.ts'
import { claimedEmail, type Registration, registerHashed } from '../../../commands/accounts/register.ts'
import { browserCookie } from '../../api/session.ts'
import { isOutdated, markBrowser } from '../../../security/knownbrowsers.ts'
import type { MailOrder } from '../../../security/outbox.ts'
import type { Mails } from '../../accounts/mails.ts'
import type { FoundLink, LinkKind, OneTimeLinks } from '../../../security/onetimelinks.ts'
import { hashPassword, owner } from '../../../security/passwords.ts'
import {
  confirmedPage,
  confirmPage,
  createdPage,
  firstAccountPage,
  type FormProblem,
  gonePage,
  newPasswordPage,
  passwordChangedPage,
  takenPage,
} from './pages.ts'
import type { WritePage } from '../page/page.ts'
import { isTaken } from '../../../commands/claims/taken.ts'

export interface StepOptions {
  readonly handler: Handler
  readonly nextId: NextId
  readonly progress: Pick<Progress, 'wait'>
  readonly links: OneTimeLinks
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  /** Whether no account was ever made. */
  readonly isFirst: () => Promise<boolean>
  readonly pepper: Buffer
  readonly serviceUrl: string
}

export interface Posted {
  readonly email: string
  readonly password: string
}
/** What a link does: its page, what the page asks for, and what happens when it is sent. */
export interface Step {
  readonly asks: readonly (keyof Posted)[]
  /** Returns the page with the button; undefined when the link does not work any more. */
  readonly show: (token: string, problem?: FormProblem, email?: string) => Promise<WritePage | undefined>
  /** Returns the page that says what was done; undefined when the link does not work any more. */
  readonly act: (token: string, posted: Posted, lang: string) => Promise<WritePage | undefined>
}

/** ms that a change is waited for until it is in the read tables */
const timeoutMs = 2000

const contextOf = (id: number) => ({
  account: id,
  actor: { kind: 'visitor' } as const,
  request: randomUUID(),
  command: randomUUID(),
  at: new Date().toISOString(),
})

const createWrites = ({ handler, mails, nextId, progress, pepper }: StepOptions) => {
  const create = async (registration: Registration): Promise<WritePage> => {
    const own = contextOf(0)
    const made = await registerHashed(pepper, registration, async (make) => {
      const created = await handler.create(account, nextId, make, (id) => ({ ...own, account: id }))
      await progress.wait(created.position, timeoutMs)
      return created
    })
    return createdPage(made)
  }
  return {
    /**
     * Registers an account with the hash of its password. A username that was taken since is replaced with one made
     * from the address.
     */
    create: (registration: Registration) =>
      create(registration).catch((error: unknown) => {
        if (isTaken(error, 'username')) return create({ ...registration, username: undefined })
        throw error
      }),
    /** Changes an account, and tells its owner: at the old address, if it is that which changes. */
    update: async (
      id: number | null,
      { email, password }: { readonly email?: string; readonly password?: string },
      { lang, pageOf }: { readonly lang: string; readonly pageOf: (state: Account) => WritePage },
    ) => {
      if (id === null) throw new Error('a link that changes an account must name one')
      const before = (await handler.load(account, id)).state.email
      // before the change: it is sent once the change has happened, and lost by no crash
      const orders: MailOrder[] = [
        ...(email === undefined || before === null ? [] : [{ kind: 'emailChanged', lang, to: before, email } as const]),
        ...(password === undefined ? [] : [{ kind: 'passwordChanged', lang, password } as const]),
      ]
      for (const order of orders) await mails?.order(order, id)
      const changes = {
        ...(email === undefined ? {} : { email: claimedEmail(pepper, email) }),
        ...(password === undefined ? {} : { password }),
      }
      const command = { type: 'UpdateAccount', id, ...changes } as const
      const { position, state } = await handler.handle(account, command, contextOf(id))
      await progress.wait(position, timeoutMs)
      return pageOf(state)
    },
  }
}

/**
 * The page that says so marks the browser as one that has signed in: its owner reads the mails of the account, and
 * wrong passwords of others must not keep it from signing in now.
 */
const changedPage =
  (id: number | null, { pepper, serviceUrl }: Pick<StepOptions, 'pepper' | 'serviceUrl'>) =>
  (state: Account): WritePage =>
  (view) => ({
    ...passwordChangedPage(view),
    ...(id !== null && {
      headers: { 'Set-Cookie': browserCookie(id, markBrowser(pepper, { id, state }), serviceUrl) },
    }),
  })

const unlessTaken = (work: Promise<WritePage>) =>
  work.catch((error: unknown) => {
    if (isTaken(error, 'email')) return takenPage
    throw error
  })

/**
 * Returns undefined when the account takes no changes any more: the operator has disabled it. The link stays, and works
 * once it is enabled.
 */
const unlessRefused = <R>(work: Promise<R>) =>
  work.catch((error: unknown) => {
    if (error instanceof Refused) return undefined
    throw error
  })

/** Changes the address of an account, while a sign-in needs what it needed when the link was asked for. */
const changeAddress = async (
  { handler, pepper }: StepOptions,
  { account: id, content }: FoundLink<'email'>,
  change: () => Promise<WritePage>,
) => {
  const { state } = id === null ? { state: undefined } : await handler.load(account, id)
  return id !== null && state && isOutdated(pepper, content.signIn, { id, state }) ? undefined : unlessTaken(change())
}

const createPasswordStep = (options: StepOptions, update: ReturnType<typeof createWrites>['update']): Step => ({
  asks: ['password'],
  show: async (token, problem) =>
    (await options.links.find('password', token)) ? newPasswordPage({ token, problem }) : undefined,
  act: async (token, { password }, lang) => {
    const used = await unlessRefused(
      options.links.use('password', token, async ({ account: id }) =>
        update(
          id,
          { password: await hashPassword(password, owner(id ?? 0)) },
          { lang, pageOf: changedPage(id, options) },
        ),
      ),
    )
    return used?.result
  },
})

/** Returns what the links of each kind do. */
export const createSteps = (options: StepOptions): Readonly<Record<LinkKind, Step>> => {
  const { links, isFirst } = options
  const { create, update } = createWrites(options)
  const shown = (kind: 'register' | 'email') => async (token: string, problem?: FormProblem) => {
    const link = await links.find(kind, token)
    return link && confirmPage(kind, link.content.email, { token, problem })
  }
  return {
    first: {
      asks: ['email', 'password'],
      show: async (token, problem, email = '') =>
        (await links.find('first', token)) && (await isFirst())
          ? firstAccountPage({ token, email, problem })
          : undefined,
      act: async (token, { email, password }) => {
        const used = await links.use('first', token, async () =>
          (await isFirst()) ? create({ email, password: await hashPassword(password) }) : gonePage,
        )
        return used?.result
      },
    },
    register: {
      // not that of whoever asked for the mail: anybody may do so with an address of somebody else
      asks: ['password'],
      show: shown('register'),
      act: async (token, { password }) => {
        const used = await links.use('register', token, async ({ content }) =>
          unlessTaken(create({ ...content, password: await hashPassword(password) })),
        )
        return used?.result
      },
    },
    email: {
      asks: [],
      show: shown('email'),
      act: async (token, _, lang) => {
        const used = await unlessRefused(
          links.use('email', token, (link) =>
            changeAddress(options, link, () =>
              update(link.account, link.content, { lang, pageOf: () => confirmedPage }),
            ),
          ),
        )
        return used?.result
      },
    },
    password: createPasswordStep(options, update),
  }
}
