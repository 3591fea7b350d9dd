import type { OneTimeLinks } from '../../../security/onetimelinks.ts'
import type { DueMail, Outbox, WrittenMail } from '../../../security/outbox.ts'
import { decideOrder, lifetime, type OrderOptions } from './order.ts'
import { repeat, unwatched, type Watching } from '../repeat.ts'

/** The mail server has refused the recipient for good. */
export class Undeliverable extends Error {
  override readonly name = 'Undeliverable'
}

export interface MailOptions extends OrderOptions {
  readonly outbox: Outbox
  readonly links: Pick<OneTimeLinks, 'extend' | 'deleteExpired'>
  /** Hands a mail over to the mail server. Throws `Undeliverable`. */
  readonly send: (mail: WrittenMail) => Promise<void>
  readonly onProblem: (error: unknown, what: string) => void
  /** Called after each attempt to hand a mail over to the mail server. */
  readonly sending?: { readonly failed: (error: unknown) => void; readonly worked: () => void }
  readonly watching?: Watching
}

/** mails in one run, and seconds for which no other process takes them: longer than sending takes at most */
const [perRun, lease] = [10, 120]
/** seconds until a notice of something that has not happened yet is looked at again */
const soon = 1
/** ms between runs; an order does not wait for the next one */
const every = 5000

/** Returns the seconds until a mail is tried again: from 10 seconds on, an hour at most. */
const pauseAfter = (tries: number) => Math.min(3600, 5 * 2 ** Math.min(tries, 10))

/** Returns what a mail says. An order is decided first; undefined when there is nothing to send, or not yet. */
const written = async (options: MailOptions, mail: DueMail): Promise<WrittenMail | undefined> => {
  const { outbox } = options
  if (mail.content.kind === 'written') return mail.content
  const decision = await decideOrder(options, mail, mail.content)
  if (decision === 'drop') await outbox.remove(mail.id)
  else if (decision === 'later') await outbox.postpone(mail.id, soon)
  else return outbox.write(mail.id, decision.account, decision.write)
  return undefined
}

const sendMail = async (options: MailOptions, mail: DueMail) => {
  const { outbox, links, send, onProblem, sending } = options
  try {
    const content = await written(options, mail)
    if (!content) return
    if (content.link) await links.extend(content.link.token, content.link.seconds)
    await send(content)
    sending?.worked()
    // a process that is killed before this sends the mail once more
    await outbox.remove(mail.id)
  } catch (error) {
    // a server that refuses one recipient works
    if (error instanceof Undeliverable) sending?.worked()
    else sending?.failed(error)
    const isOver = error instanceof Undeliverable || mail.age > lifetime
    onProblem(error, isOver ? 'a mail was given up' : 'a mail could not be sent; it is tried again')
    await (isOver ? outbox.remove(mail.id) : outbox.postpone(mail.id, pauseAfter(mail.tries)))
  }
}

/** Sends the mails that are due. */
export const sendMails = async (options: MailOptions, signal?: AbortSignal): Promise<void> => {
  for (;;) {
    if (signal?.aborted) return
    const due = await options.outbox.take(perRun, lease)
    await Promise.all(due.map((mail) => sendMail(options, mail)))
    if (due.length < perRun) return
  }
}

/** Starts to send mails: those that are ordered by this process at once. */
export const startMails = (options: MailOptions) => {
  const stopping = new AbortController()
  let wanted = false
  let running: Promise<unknown> = Promise.resolve()
  const sendDue = (options.watching ?? unwatched)(() => sendMails(options, stopping.signal))
  const run = () => {
    if (wanted || stopping.signal.aborted) return
    wanted = true
    running = running
      .then(() => {
        wanted = false
        return sendDue()
      })
      .catch((error: unknown) => options.onProblem(error, 'mails could not be read'))
  }
  const timer = setInterval(run, every)
  const stopCleanup = repeat(
    () => options.links.deleteExpired(),
    3_600_000,
    (error) => options.onProblem(error, 'expired links could not be deleted'),
  )
  const planned = new Set<NodeJS.Timeout>()
  const plan = (ms: number) => {
    const timer = setTimeout(() => {
      planned.delete(timer)
      run()
    }, ms)
    planned.add(timer)
  }
  return {
    /**
     * Sends what was ordered, a moment later. The request is answered by then: what becomes of its order must not show
     * in the time that it takes. Again a second later: a notice is ordered before what it is about has happened.
     */
    wake: () => {
      if (stopping.signal.aborted || planned.size > 0) return
      plan(100 + Math.random() * 400)
      plan(soon * 1000 + 600)
    },
    /** Stops after the mails that are being sent. */
    close: async () => {
      stopping.abort()
      clearInterval(timer)
      planned.forEach((timer) => clearTimeout(timer))
      await Promise.all([stopCleanup(), running])
    },
  }
}
