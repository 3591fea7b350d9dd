import { createHash } from 'node:crypto'
import { account } from '../../../commands/accounts/account.ts'
import { password as validPassword } from '../../../commands/accounts/register.ts'
import { team } from '../../../commands/accounts/team.ts'
import type { Account } from '../../../commands/accounts/state.ts'
import { findInvitation } from '../../accounts/invitation.ts'
import { browserCookie, isProxied, sessionCookie } from '../../api/session.ts'
import { isOutdated, markBrowser } from '../../../security/knownbrowsers.ts'
import type { FoundLink, LinkKind } from '../../../security/onetimelinks.ts'
import { proxiedBy } from '../../../security/authproxy.ts'
import { linkCredential } from '../../../security/credential.ts'
import type { SessionClient } from '../../../security/sessions.ts'
import { owner } from '../../../security/passwords.ts'
import {
  confirmedPage,
  confirmPage,
  enteredPage,
  enterPage,
  firstAccountPage,
  type FormProblem,
  gonePage,
  newPasswordPage,
  passwordChangedPage,
  tooMany,
} from './pages.ts'
import { invitationPage } from './invitation.ts'
import type { WritePage } from '../page/page.ts'
import { contextOf, createWrites, type StepOptions, timeoutMs, unlessRefused, unlessTaken } from './writes.ts'

export interface Posted {
  readonly email: string
  readonly password: string
}
/** Who sends the page of a link: a language, an address block, and a browser. */
export interface Visitor {
  readonly lang: string
  readonly from: string
  readonly client: SessionClient
  /** the token of a session, which may have ended */
  readonly token: string | undefined
  /** whom the proxy in front names; undefined: nobody */
  readonly proxied: string | undefined
}
/** What a link does: its page, what the page asks for, and what happens when it is sent. */
export interface Step {
  readonly asks: readonly (keyof Posted)[]
  /** Returns the page with the button; undefined when the link does not work any more. */
  readonly show: (token: string, problem?: FormProblem, email?: string) => Promise<WritePage | undefined>
  /** Returns the page that says what was done; undefined when the link does not work any more. */
  readonly act: (token: string, posted: Posted, visitor: Visitor) => Promise<WritePage | undefined>
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
  act: async (token, { password }, { lang }) => {
    const used = await unlessRefused(
      options.links.use('password', token, async ({ account: id }) =>
        update(
          id,
          { password: await options.hashNewPassword(password, owner(id ?? 0)) },
          { lang, pageOf: changedPage(id, options) },
        ),
      ),
    )
    return used?.result
  },
})

/** Makes an account for somebody who is invited to another one, also where nobody may register. */
const createInvitationStep = (options: StepOptions, create: ReturnType<typeof createWrites>['create']): Step => {
  const { handler, links, hashNewPassword, passwordSignIn, progress } = options
  const find = (token: string) => findInvitation({ links, load: handler.load }, token)
  const show: Step['show'] = async (token, problem, email) => {
    const found = await find(token)
    return found && invitationPage(found, { token, problem, ...(email !== undefined && { email }) }, passwordSignIn)
  }
  return {
    asks: ['password'],
    show,
    act: async (token, { email, password }) => {
      const asked = await find(token)
      if (!asked || !passwordSignIn) return show(token)
      const address = asked.email ?? email
      if (address === '')
        return show(token, { status: 400, field: 'email', text: ({ account: { problems } }) => problems.email }, email)
      const hash = await hashNewPassword(password, owner(0))
      const used = await links.use('invitation', token, () =>
        unlessTaken(
          create(
            { email: address, password: hash },
            {
              account: asked.account,
              join: async (person) => {
                const { account: id, member, role } = asked
                const actor = { kind: 'session', member, role } as const
                const command = { type: 'Join', id, member, person, now: new Date().toISOString() } as const
                const { position } = await handler.handle(team, command, { ...contextOf(id), actor })
                await progress.wait(position, timeoutMs)
              },
            },
          ),
        ),
      )
      return used?.result
    },
  }
}

const wrongPassword: FormProblem = { status: 400, field: 'password', text: ({ password }) => password.wrong }
const notSignedIn: FormProblem = {
  status: 400,
  field: undefined,
  text: ({ account: { problems } }) => problems.signedIn,
}

/**
 * Whoever is asked to confirm an address of theirs for the account of somebody else must not get that account: its
 * owner would still have keys, sessions and webhooks of it. So the page asks for its password or, where it has none that
 * counts, for a session of it.
 */
const createEmailStep = (options: StepOptions, update: ReturnType<typeof createWrites>['update']): Step => {
  const { handler, links, passwords, passwordSignIn, sessions } = options
  const hasPassword = ({ password }: Account) => passwordSignIn && password !== null
  const show: Step['show'] = async (token, problem) => {
    const link = await links.find('email', token)
    if (!link) return undefined
    const { state } = await handler.load(account, link.account ?? 0)
    const kind = hasPassword(state) ? 'email' : 'signedIn'
    return confirmPage(kind, { ...link.content, username: state.username }, { token, problem })
  }
  const signedInWith = async (id: number, state: Account, { token, proxied }: Visitor) => {
    const session = token === undefined ? undefined : await sessions.find(token)
    const credential = session?.account === id && state.status === 'active' ? session.openedWith(state) : undefined
    if (!session || !credential || !(await isProxied(sessions, session, proxiedBy(state, credential), proxied)))
      return { problem: notSignedIn }
    return { shown: credential }
  }
  /** Wrong passwords count for each link, which only a session or key of the account can ask for. */
  const verify = async (id: number, token: string, presented: { readonly password: string; readonly from: string }) => {
    if (!validPassword.safeParse(presented.password).success) return { problem: wrongPassword }
    const holder = { kind: 'link', id: createHash('sha256').update(token).digest('base64url') } as const
    const verdict = await passwords.verify({ ...presented, account: id, holder })
    if (verdict === 'wrong') return { problem: wrongPassword }
    return 'wait' in verdict
      ? { problem: tooMany(verdict.wait) }
      : { shown: { kind: 'password', hash: verdict.hash } as const }
  }
  return {
    // whether it needs a password is known once the account is
    asks: [],
    show,
    act: async (token, { password }, visitor) => {
      const { lang, from } = visitor
      const asked = await links.find('email', token)
      if (!asked || asked.account === null) return undefined
      const { state } = await handler.load(account, asked.account)
      const { problem, shown } = hasPassword(state)
        ? await verify(asked.account, token, { password, from })
        : await signedInWith(asked.account, state, visitor)
      if (problem) return show(token, problem)
      const used = await unlessRefused(
        links.use('email', token, (link) =>
          changeAddress(options, link, () =>
            update(link.account, link.content, { lang, pageOf: () => confirmedPage, shown }),
          ),
        ),
      )
      return used?.result
    },
  }
}

/** s of a session that a link of the operator has opened: long enough to link an identity */
const enteredSeconds = 12 * 3600

/** An operator has made the link, for somebody who cannot sign in. */
const createEnterStep = ({ handler, links, serviceUrl, sessions }: StepOptions): Step => ({
  asks: [],
  show: async (token) => ((await links.find('enter', token)) ? enterPage({ token }) : undefined),
  act: async (token, _, { client }) => {
    const used = await links.use('enter', token, async ({ account: id }) => {
      const { state } = await handler.load(account, id ?? 0)
      if (id === null || state.status !== 'active') return gonePage
      const limits = { confirmed: true, seconds: enteredSeconds }
      const session = await sessions.open(id, linkCredential(state), client, limits)
      return enteredPage(sessionCookie(session.token, serviceUrl, enteredSeconds))
    })
    return used?.result
  },
})

/** Does nothing where nobody signs in with a password. */
const withPasswords = ({ passwordSignIn }: StepOptions, step: Step): Step =>
  passwordSignIn ? step : { ...step, show: async () => undefined, act: async () => undefined }

/** Returns what the links of each kind do. */
export const createSteps = (options: StepOptions): Readonly<Record<LinkKind, Step>> => {
  const { hashNewPassword, links, isFirst } = options
  const { create, update } = createWrites(options)
  return {
    first: {
      asks: ['email', 'password'],
      show: async (token, problem, email = '') =>
        (await links.find('first', token)) && (await isFirst())
          ? firstAccountPage({ token, email, problem })
          : undefined,
      act: async (token, { email, password }) => {
        const used = await links.use('first', token, async () =>
          (await isFirst()) ? create({ email, password: await hashNewPassword(password, owner(0)) }) : gonePage,
        )
        return used?.result
      },
    },
    register: withPasswords(options, {
      // not that of whoever asked for the mail: anybody may do so with an address of somebody else
      asks: ['password'],
      show: async (token, problem) => {
        const link = await links.find('register', token)
        return link && confirmPage('register', link.content, { token, problem })
      },
      act: async (token, { password }) => {
        const used = await links.use('register', token, async ({ content }) =>
          unlessTaken(create({ ...content, password: await hashNewPassword(password, owner(0)) })),
        )
        return used?.result
      },
    }),
    email: createEmailStep(options, update),
    invitation: createInvitationStep(options, create),
    password: withPasswords(options, createPasswordStep(options, update)),
    enter: createEnterStep(options),
  }
}
