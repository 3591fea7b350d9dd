import { randomUUID } from 'node:crypto'
import type { Progress } from '../../../cache/progress.ts'
import { account } from '../../../commands/accounts/account.ts'
import { requireCredential } from '../../../commands/accounts/credential.ts'
import type { Account } from '../../../commands/accounts/state.ts'
import { isTaken } from '../../../commands/claims/taken.ts'
import { Refused } from '../../../commands/decider.ts'
import type { Handler, NextId } from '../../../commands/handle.ts'
import { claimedEmail, type Registration, registerHashed } from '../../../commands/accounts/register.ts'
import type { AuthProxy } from '../../../security/authproxy.ts'
import type { Credential } from '../../../security/credential.ts'
import type { MailOrder } from '../../../security/outbox.ts'
import type { Mails } from '../../accounts/mails.ts'
import type { AccountPasswords } from '../../accounts/password.ts'
import type { OneTimeLinks } from '../../../security/onetimelinks.ts'
import type { SessionClient, Sessions } from '../../../security/sessions.ts'
import type { Turn } from '../../../security/passwords.ts'
import { createdPage, type FormProblem, takenPage } from './pages.ts'
import type { WritePage } from '../page/page.ts'

export interface StepOptions {
  readonly handler: Handler
  readonly nextId: NextId
  readonly progress: Pick<Progress, 'wait'>
  readonly links: OneTimeLinks
  /** undefined without SMTP_URL */
  readonly mails: Mails | undefined
  /** Whether no account was ever made. */
  readonly isFirst: () => Promise<boolean>
  readonly passwords: Pick<AccountPasswords, 'verify'>
  readonly hashNewPassword: (password: string, turn: Turn) => Promise<string>
  readonly pepper: Buffer
  /** whether people may sign in with passwords */
  readonly passwordSignIn: boolean
  readonly sessions: Pick<Sessions, 'end' | 'find' | 'open'>
  /** undefined without AUTH_PROXY_HEADER */
  readonly authProxy: AuthProxy | undefined
  readonly serviceUrl: string
}

export interface Posted {
  readonly email: string
  readonly password: string
}
/** The visitor who sends the page of a link: language, address block, and browser. */
export interface Visitor {
  readonly lang: string
  readonly from: string
  readonly client: SessionClient
  /** the token of a session, which may have ended */
  readonly token: string | undefined
  /** the person whom the proxy in front names; undefined: none */
  readonly proxied: string | undefined
}
/** The step of a link: its page, the fields of the page, and the action when it is sent. */
export interface Step {
  readonly asks: readonly (keyof Posted)[]
  /** Returns the page with the button; undefined when the link no longer works. */
  readonly show: (token: string, problem?: FormProblem, email?: string) => Promise<WritePage | undefined>
  /** Returns the page with the result; undefined when the link no longer works. */
  readonly act: (token: string, posted: Posted, visitor: Visitor) => Promise<WritePage | undefined>
}

/** ms to wait for a change to reach the read tables */
export const timeoutMs = 2000

export const contextOf = (id: number) => ({
  account: id,
  actor: { kind: 'visitor' } as const,
  request: randomUUID(),
  command: randomUUID(),
  at: new Date().toISOString(),
})

/** The account that a new account joins at once. */
interface Joining {
  readonly account: number
  readonly join: (person: number) => Promise<void>
}

interface Update {
  readonly lang: string
  readonly pageOf: (state: Account) => WritePage
  readonly shown?: Credential
}

export const createWrites = ({ handler, mails, nextId, progress, pepper }: StepOptions) => {
  const create = async (registration: Registration, joining?: Joining): Promise<WritePage> => {
    const own = contextOf(0)
    const made = await registerHashed(pepper, registration, async (make) => {
      const created = await handler.create(account, nextId, make, (id) => ({ ...own, account: id }))
      await progress.wait(created.position, timeoutMs)
      return created
    })
    await joining?.join(made.id)
    return createdPage(made, joining?.account)
  }
  return {
    /**
     * Registers an account with the hash of its password. A username that was taken since is replaced with one made
     * from the address.
     */
    create: (registration: Registration, joining?: Joining) =>
      create(registration, joining).catch((error: unknown) => {
        if (isTaken(error, 'username')) return create({ ...registration, username: undefined }, joining)
        throw error
      }),
    /**
     * Changes an account, and informs its owner: at the old address, if that is what changes. `shown` is the credential
     * of the request: the change is refused when the account no longer has it.
     */
    update: async (
      id: number | null,
      { email, password }: { readonly email?: string; readonly password?: string },
      { lang, pageOf, shown }: Update,
    ) => {
      if (id === null) throw new Error('a link that changes an account must name one')
      const before = (await handler.load(account, id)).state.email
      // before the change: the mail is sent once the change has happened, and no crash loses it
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
      const requires = shown && requireCredential(shown)
      const { position, state } = await handler.handle(account, command, contextOf(id), { requires })
      await progress.wait(position, timeoutMs)
      return pageOf(state)
    },
  }
}

/** Returns the page for an address that an account has taken meanwhile. */
export const unlessTaken = (work: Promise<WritePage>) =>
  work.catch((error: unknown) => {
    if (isTaken(error, 'email')) return takenPage
    throw error
  })

/**
 * Returns undefined when the account takes no changes any more: the operator has disabled it. The link stays, and works
 * once it is enabled.
 */
export const unlessRefused = <R>(work: Promise<R>) =>
  work.catch((error: unknown) => {
    if (error instanceof Refused) return undefined
    throw error
  })
