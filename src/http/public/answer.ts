import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { account as accounts } from '../../commands/account.ts'
import { answer } from '../../commands/answer.ts'
import type { Handler as CommandHandler } from '../../commands/handle.ts'
import { overlay } from '../../commands/overlay.ts'
import type { OverlayFields } from '../../events/overlay.ts'
import { addressBlock, clientAddress } from '../../lib/address.ts'
import { firstProblem, text } from '../api/fields.ts'
import type { Limiter } from '../api/ratelimit.ts'
import { email } from '../register.ts'
import { cameFrom } from './answerform.ts'
import { readForm } from './form.ts'
import { sendPage } from './html.ts'
import { thanksPage, unansweredPage } from './overlaypage.ts'
import { pages } from './pages.ts'
import type { Handler, Redirect } from './redirect.ts'

export interface AnswerPagesOptions extends Pick<Redirect, 'below'> {
  readonly handler: CommandHandler
  readonly limiter: Limiter
  readonly pepper: Buffer
  readonly trustProxy: number
}

const path = /^\/o\/([1-9]\d{0,14})(?:\?|$)/
const posts = { limit: 10, seconds: 60 }
/** bytes: a few fields of 1,000 characters, percent-encoded, and an address */
const formLimit = 65_536

const written = text(1000).trim()
/** What the form of an overlay asks for; undefined: it has none. */
const asked = ({ type, options }: OverlayFields): z.ZodType<Readonly<Record<string, string>>> | undefined => {
  switch (type) {
    case 'contact':
      return z.object({ name: written.default(''), email, message: written.min(1, 'must not be empty') })
    case 'newsletter':
      return z.object({ email })
    case 'poll':
      return z.object({ choice: z.enum(options, 'must be one of the answers to choose from') })
    case 'message':
    case 'image':
    case 'coupon':
      return undefined
  }
}

/** `/o/{id}` takes the answers of visitors to an overlay's form, on every host; the visitor is thanked, and led on. */
export const createAnswerPages = ({ handler, limiter, pepper, trustProxy, below }: AnswerPagesOptions): Handler => {
  /** As its stream says; a visitor who answers comes seldom. */
  const living = async (id: number) => {
    const { state } = await handler.load(overlay, id)
    if (state.status !== 'open') return undefined
    const owner = await handler.load(accounts, state.account)
    return owner.state.status === 'active' ? state : undefined
  }

  return below(async (req, res) => {
    const id = Number(path.exec(req.url ?? '')?.[1] ?? 0)
    if (req.method !== 'POST') {
      sendPage(req, res, pages.onlyPost)
      return true
    }
    const from = addressBlock(clientAddress(req, trustProxy))
    const { over, wait } = await limiter.count(`answer ${from}`, posts.limit, posts.seconds)
    const form = await readForm(req, formLimit)
    if (over) {
      const problem = `You have sent many answers: try again in ${wait} seconds.`
      sendPage(req, res, unansweredPage(429, problem, { 'Retry-After': String(wait) }))
      return true
    }
    const found = await living(id)
    const schema = found && asked(found.fields)
    if (!schema) return false
    const given = form && schema.safeParse(Object.fromEntries(form))
    const came = form && cameFrom(pepper, id, form)
    if (!given) sendPage(req, res, unansweredPage(413, 'A field has at most 1,000 characters.'))
    else if (!given.success) sendPage(req, res, unansweredPage(400, firstProblem(given.error)))
    else {
      const fields = JSON.stringify(Object.fromEntries(Object.entries(given.data).filter(([, value]) => value !== '')))
      const { account, fields: shown } = found
      // what fills the field that no person sees is thanked like anybody
      if (!form.get('website'))
        await handler.handle(
          answer,
          { type: 'GiveAnswer', answer: randomUUID(), overlay: id, account, link: came?.link ?? 0, fields },
          {
            account,
            actor: { kind: 'visitor' },
            request: randomUUID(),
            command: randomUUID(),
            at: new Date().toISOString(),
          },
        )
      sendPage(req, res, thanksPage(shown.type, came?.to))
    }
    return true
  }, true)
}
