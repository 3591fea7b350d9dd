import { createHash } from 'node:crypto'
import { account } from '../../../commands/accounts/account.ts'
import { password as validPassword } from '../../../commands/accounts/register.ts'
import type { Account } from '../../../commands/accounts/state.ts'
import { proxiedBy } from '../../../security/authproxy.ts'
import { isOutdated } from '../../../security/knownbrowsers.ts'
import type { FoundLink } from '../../../security/onetimelinks.ts'
import { isProxied } from '../../api/session.ts'
import type { WritePage } from '../page/page.ts'
import { confirmedPage, confirmPage, type FormProblem, tooMany } from './pages.ts'
import { type createWrites, type Step, type StepOptions, unlessRefused, unlessTaken, type Visitor } from './writes.ts'

/** Changes the address of an account, as long as its sign-in is the same as when the link was requested. */
const changeAddress = async (
  { handler, pepper }: StepOptions,
  { account: id, content }: FoundLink<'email'>,
  change: () => Promise<WritePage>,
) => {
  const { state } = id === null ? { state: undefined } : await handler.load(account, id)
  return id !== null && state && isOutdated(pepper, content.signIn, { id, state }) ? undefined : unlessTaken(change())
}

const wrongPassword: FormProblem = { status: 400, field: 'password', text: ({ password }) => password.wrong }
const notSignedIn: FormProblem = {
  status: 400,
  field: undefined,
  text: ({ account: { problems } }) => problems.signedIn,
}

/**
 * A person who confirms their address for the account of another person must not get that account: its owner would
 * still have its keys, sessions and webhooks. So the page asks for its password or, without a usable one, for a session
 * of it.
 */
export const createEmailStep = (options: StepOptions, update: ReturnType<typeof createWrites>['update']): Step => {
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
  /** Wrong passwords count for each link, which only a session or key of the account can request. */
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
