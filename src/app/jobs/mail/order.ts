import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { account as accounts } from '../../../commands/accounts/account.ts'
import type { Account } from '../../../commands/accounts/state.ts'
import { team as teams } from '../../../commands/accounts/team.ts'
import type { Handler } from '../../../commands/handle.ts'
import { claimedEmail } from '../../../commands/accounts/register.ts'
import type { Step } from '../../../commands/steps.ts'
import { type Webhook, webhook as webhooks } from '../../../commands/webhooks/webhook.ts'
import { parseStreamId } from '../../../events/streams.ts'
import { publicPart } from '../../../security/apikeys.ts'
import { isOutdated } from '../../../security/knownbrowsers.ts'
import type { LinkKind, OneTimeLinks } from '../../../security/onetimelinks.ts'
import { type TextName, told } from './names.ts'
import type { DueMail, MailOrder, Outbox } from '../../../security/outbox.ts'

export interface OrderOptions {
  readonly handler: Pick<Handler, 'claimant' | 'load' | 'steps'>
  readonly pepper: Buffer
  /** Returns the subject and the text of a mail, with a link or a day on a line of its own if it has one. */
  readonly textOf: (name: TextName, lang: string, line?: string) => { readonly subject: string; readonly text: string }
  /** Returns the address of the page of a link. */
  readonly addressOf: (kind: LinkKind, token: string) => string
}

/** What to do with an order: drop it, look again later, or write the mail. */
type Decision = 'drop' | 'later' | { readonly account: number | null; readonly write: Parameters<Outbox['write']>[2] }
type Issue = OneTimeLinks['issue']

const [hour, day] = [3600, 86_400]
/** seconds after which a mail that could not be sent is given up */
export const lifetime = 3 * day
/** seconds until a notice of something that has not happened is dropped: the request that announced it has failed */
const grace = 60

/**
 * Returns the account that has an e-mail address now. From the log: the tables may lag behind, and an account must not
 * be missed.
 */
const ownerOf = async ({ handler, pepper }: OrderOptions, address: string) => {
  const holder = await handler.claimant({ kind: 'email', name: claimedEmail(pepper, address).emailKey })
  if (holder === undefined) return undefined
  const id = parseStreamId(holder).number
  const { state } = await handler.load(accounts, id)
  return state.status !== 'erased' && state.email === address ? { id, status: state.status } : undefined
}

type Ordered = Pick<DueMail, 'account' | 'age'>

/**
 * Returns what writes the mail of an order: a notice, one that is sent once something has happened, or a mail with a
 * link.
 */
const createDecisions = (options: OrderOptions, { account, age }: Ordered, lang: string) => {
  const { textOf, addressOf } = options
  const notice = (owner: number | null, name: TextName, to: string, line?: string): Decision => ({
    account: owner,
    write: async () => ({ kind: 'written', id: randomUUID(), to, ...textOf(name, lang, line) }),
  })
  /** A mail with a link, which works for `seconds` from when it is sent. */
  const linked = (
    { name, kind, seconds, to }: { name: TextName; kind: LinkKind; seconds: number; to: string },
    owner: number | null,
    issueLink: (issue: Issue) => Promise<string>,
  ): Decision => ({
    account: owner,
    write: async (issue) => {
      const token = await issueLink(issue)
      return {
        kind: 'written',
        id: randomUUID(),
        to,
        ...textOf(name, lang, addressOf(kind, token)),
        link: { token, seconds },
      }
    },
  })
  /** what becomes of an order while its account is not as it says */
  const unmet: Decision = age < grace ? 'later' : 'drop'
  const findAccount = async () => (account === null ? undefined : (await options.handler.load(accounts, account)).state)
  /** A notice, once the account is as it says. */
  const noticeOnce = async (
    name: TextName,
    holds: (state: Account) => boolean,
    to: (state: Account) => string | null,
    line?: string,
  ) => {
    const state = await findAccount()
    const address = state && holds(state) ? to(state) : null
    return address === null ? unmet : notice(account, name, address, line)
  }
  return { notice, linked, noticeOnce, findAccount, unmet }
}

/**
 * Returns how a mail names a webhook: without its name, by which a key would write to the owner, and without the path
 * of its address, which may have a password in it.
 */
const lineOf = (id: number, { url }: Pick<Webhook, 'url'>) =>
  url === null ? String(id) : `${id}: ${new URL(url).host}`

type Linked = 'register' | 'email' | 'reset' | 'invitation'
type Notice = Exclude<MailOrder, { readonly kind: Linked }>

/** How an account was once: after an event, or now. */
type Was = Pick<Step<Account>, 'after'> & Partial<Step<Account>>

/** Whether any of these steps was so. One that was undone at once counts, so that undoing hides nothing. */
const hasHad = async <S>(steps: AsyncIterable<Step<S>>, wasSo: (step: Step<S>) => boolean) => {
  for await (const step of steps) if (wasSo(step)) return true
  return false
}

/** Decides what becomes of a notice: it is sent once the account is as it says. */
const decideNotice = async (options: OrderOptions, ordered: Ordered, order: Notice): Promise<Decision> => {
  const { account } = ordered
  const { noticeOnce } = createDecisions(options, ordered, order.lang)
  const { load, steps } = options.handler
  const toOwner = (holds: (state: Account) => boolean, line?: string) =>
    noticeOnce(order.kind, holds, ({ email }) => email, line)
  /** To the owner once the account was so after a revision; without one, from an older process, while it is so. */
  const onceHad = async (after: number | undefined, wasSo: (step: Was) => boolean, line?: string) => {
    if (after === undefined) return toOwner((state) => wasSo({ after: state }), line)
    const had = account !== null && (await hasHad(steps(accounts, account, { from: after + 1 }), wasSo))
    return toOwner(() => had, line)
  }
  switch (order.kind) {
    case 'emailChanged':
      return noticeOnce(
        order.kind,
        ({ email }) => email === order.email,
        () => order.to,
      )
    case 'passwordChanged':
      return toOwner(({ password }) => password === order.password)
    case 'erasure':
      return toOwner(({ erases }) => erases === order.due, order.due.slice(0, 10))
    case 'webhookDisabled': {
      const { state } = await load(webhooks, order.webhook)
      const isDisabled = state.account === account && (state.stopped === 'gone' || state.stopped === 'failing')
      return toOwner(({ status }) => isDisabled && status === 'active', lineOf(order.webhook, state))
    }
    case 'webhookAdded': {
      const { state } = await load(webhooks, order.webhook)
      // also when it is deleted by now
      return toOwner(() => state.account === account, lineOf(order.webhook, state))
    }
    case 'webhookMoved': {
      const { webhook: id, url, after } = order
      const { state } = await load(webhooks, id)
      const isTo = (one: Webhook) => one.account === account && one.url === url
      const isMoved =
        after === undefined
          ? isTo(state)
          : await hasHad(steps(webhooks, id, { from: after + 1 }), (step) => isTo(step.after))
      return toOwner(() => isMoved, lineOf(id, order))
    }
    case 'keyWidened': {
      const hasRights = ({ key, scopes, expires, addresses }: Account['keys']['keys'][number]) =>
        key === order.key && isDeepStrictEqual({ scopes: [...scopes], expires, addresses }, order.rights)
      return onceHad(order.after, ({ after }) => after.keys.keys.some(hasRights), `${publicPart(order.key)}…`)
    }
    case 'keyAdded': {
      const isKey = ({ key }: Account['keys']['keys'][number]) => key === order.key
      return onceHad(order.after, ({ after }) => after.keys.keys.some(isKey), `${publicPart(order.key)}…`)
    }
    case 'secondFactorRemoved':
      return onceHad(order.after, ({ event, after }) =>
        event ? event.type === 'SecondFactorRemoved' : after.secondFactor === null,
      )
    case 'newBrowser':
      return toOwner(({ status }) => status === 'active', order.browser)
    default:
      return onceHad(order.after, ({ event }) => event?.type === told[order.kind])
  }
}

/**
 * Decides what becomes of an order now. The request that gave it has not looked: its answer shows nothing, and takes
 * the same time.
 */
export const decideOrder = async (options: OrderOptions, ordered: Ordered, order: MailOrder): Promise<Decision> => {
  const { account } = ordered
  const { notice, linked, findAccount, unmet } = createDecisions(options, ordered, order.lang)

  switch (order.kind) {
    case 'register': {
      const { to, username, timezone, password } = order
      const owner = await ownerOf(options, to)
      if (owner) return notice(owner.id, 'taken', to)
      return linked({ name: 'register', kind: 'register', seconds: day, to }, null, (issue) =>
        issue('register', { account: null, content: { email: to, username, timezone, password } }, lifetime),
      )
    }
    case 'email': {
      const { to, signIn } = order
      const state = await findAccount()
      if (account !== null && state && isOutdated(options.pepper, signIn, { id: account, state })) return unmet
      const owner = await ownerOf(options, to)
      if (owner) return owner.id === account ? 'drop' : notice(owner.id, 'taken', to)
      return linked({ name: 'email', kind: 'email', seconds: day, to }, account, (issue) =>
        issue('email', { account, content: { email: to, signIn } }, lifetime),
      )
    }
    case 'reset': {
      const { to } = order
      const owner = await ownerOf(options, to)
      if (owner?.status !== 'active') return 'drop'
      return linked({ name: 'reset', kind: 'password', seconds: hour, to }, owner.id, (issue) =>
        issue('password', { account: owner.id, content: {} }, lifetime),
      )
    }
    case 'invitation': {
      const { to, member } = order
      if (account === null) return 'drop'
      // the command may still be on its way
      const invited = (await options.handler.load(teams, account)).state.members[member]
      if (invited?.person !== null) return unmet
      return linked({ name: 'invitation', kind: 'invitation', seconds: 7 * day, to }, account, (issue) =>
        issue('invitation', { account, content: { member, email: to } }, lifetime),
      )
    }
    default:
      return decideNotice(options, ordered, order)
  }
}
