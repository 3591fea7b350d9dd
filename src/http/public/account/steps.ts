import { account } from '../../../commands/accounts/account.ts'
import { team } from '../../../commands/accounts/team.ts'
import type { Account } from '../../../commands/accounts/state.ts'
import { isTaken } from '../../../commands/claims/taken.ts'
import { findInvitation } from '../../accounts/invitation.ts'
import { browserCookie, sessionCookie } from '../../api/session.ts'
import { markBrowser } from '../../../security/knownbrowsers.ts'
import type { LinkKind } from '../../../security/onetimelinks.ts'
import { linkCredential } from '../../../security/credential.ts'
import { owner } from '../../../security/passwords.ts'
import {
  confirmPage,
  enteredPage,
  enterPage,
  firstAccountPage,
  gonePage,
  newPasswordPage,
  passwordChangedPage,
} from './pages.ts'
import { invitationPage } from './invitation.ts'
import type { WritePage } from '../page/page.ts'
import { createEmailStep } from './email.ts'
import {
  contextOf,
  createWrites,
  type Step,
  type StepOptions,
  timeoutMs,
  unlessRefused,
  unlessTaken,
} from './writes.ts'

/**
 * Shows the page, and marks the browser as one that has signed in: its owner reads the mails of the account, and wrong
 * passwords of others must not keep it from signing in now.
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

/** Makes an account for an invited person, also where registration is closed. */
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
      const join = async (person: number) => {
        const { account: id, member, role } = asked
        const actor = { kind: 'session', member, role } as const
        const command = { type: 'Join', id, member, person, now: new Date().toISOString() } as const
        const { position } = await handler.handle(team, command, { ...contextOf(id), actor })
        await progress.wait(position, timeoutMs)
      }
      try {
        const joining = { account: asked.account, join }
        const used = await links.use('invitation', token, () => create({ email: address, password: hash }, joining))
        return used?.result
      } catch (error) {
        if (!isTaken(error, 'email')) throw error
        // the link stays: the person with that account signs in to it, and accepts
        const field = asked.email === undefined ? 'email' : undefined
        return show(token, { status: 400, field, text: ({ account: { taken } }) => taken.title }, email)
      }
    },
  }
}

/** s of a session that an operator's link opens: long enough to link an identity */
const enteredSeconds = 12 * 3600

/** An operator has made the link, for a person who cannot sign in. */
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

/** Does nothing when passwords are off. */
const withPasswords = ({ passwordSignIn }: StepOptions, step: Step): Step =>
  passwordSignIn ? step : { ...step, show: async () => undefined, act: async () => undefined }

/** Returns the step of each kind of link. */
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
      // does not use a password of the request for the mail: any person can send one with the address of another
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
