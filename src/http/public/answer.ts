import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { account as accounts } from '../../commands/account.ts'
import { answer } from '../../commands/answer.ts'
import type { Handler as CommandHandler } from '../../commands/handle.ts'
import { overlay } from '../../commands/overlay.ts'
import type { OverlayFields } from '../../events/overlay.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../lib/address.ts'
import { email, firstProblem, must, text } from '../../lib/fields.ts'
import type { Limiter } from '../api/limiter.ts'
import { isFromOtherSite, originOf } from './answerform.ts'
import { readForm } from './form.ts'
import type { SendPage } from './page.ts'
import { notSentPage, pages, type TextOf, thanksPage } from './pages.ts'
import type { Redirect } from './redirect.ts'
import type { PublicHandler } from './responses.ts'
import { counted, type Texts } from './texts/languages.ts'

export interface AnswerPagesOptions extends Pick<Redirect, 'withPrefix'> {
  readonly sendPage: SendPage
  readonly handler: CommandHandler
  readonly limiter: Limiter
  /** key of the signature in the form */
  readonly pepper: Buffer
  readonly trustProxy: TrustedProxies
}

const path = /^\/o\/([1-9]\d{0,14})(?:\?|$)/
const rate = { limit: 10, seconds: 60 }
/** bytes: a few fields of 1,000 characters, percent-encoded, and a URL */
const formLimit = 65_536

const written = text(1000).trim()
type Problem = keyof Texts['answer']['problems']
type Fields = Readonly<Partial<Record<Problem, string>>>
type FormType = keyof Texts['answer']['sent']
interface Form {
  readonly type: FormType
  readonly schema: z.ZodType<Fields>
}

/** Returns the form of an overlay; undefined when its type has none. */
const formOf = ({ type, options }: OverlayFields): Form | undefined => {
  switch (type) {
    case 'contact':
      return {
        type: 'contact',
        schema: z.object({ name: written.default(''), email, message: written.min(1, 'must not be empty') }),
      }
    case 'newsletter':
      return { type: 'newsletter', schema: z.object({ email }) }
    case 'poll':
      return { type: 'poll', schema: z.object({ choice: z.enum(options, must('one of the answers to choose from')) }) }
    default:
      return undefined
  }
}

const problemOf =
  ({ issues: [issue] }: z.ZodError): TextOf =>
  ({ answer }) =>
    issue?.code === 'too_big' ? answer.tooLong : answer.problems[issue?.path[0] as Problem]

const tooLong: TextOf = ({ answer }) => answer.tooLong
const tooMany =
  (seconds: number): TextOf =>
  (texts) =>
    counted(texts, texts.answer.tooMany, seconds)

const withoutEmpty = (fields: Fields) =>
  JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')))

/** Serves `/o/{id}`, on every host: it takes the answer to an overlay's form, thanks the visitor and leads on to the destination. */
export const createAnswerPages = ({
  sendPage,
  handler,
  limiter,
  pepper,
  trustProxy,
  withPrefix,
}: AnswerPagesOptions): PublicHandler => {
  /** From its stream: answers are too rare for a cache. */
  const findOverlay = async (id: number) => {
    const { state } = await handler.load(overlay, id)
    if (state.status !== 'open') return undefined
    const owner = await handler.load(accounts, state.account)
    return owner.state.status === 'active' ? state : undefined
  }

  const give = (account: number, overlayId: number, link: number, fields: string) =>
    handler.handle(
      answer,
      { type: 'GiveAnswer', answer: randomUUID(), overlay: overlayId, account, link, fields },
      {
        account,
        actor: { kind: 'visitor' },
        request: randomUUID(),
        command: randomUUID(),
        at: new Date().toISOString(),
      },
    )

  const receive = async (
    req: IncomingMessage,
    res: ServerResponse,
    id: number,
    posted: URLSearchParams | undefined,
  ) => {
    const found = await findOverlay(id)
    const form = found && formOf(found.fields)
    if (!form) return false
    if (!posted) {
      sendPage(req, res, notSentPage(413, tooLong))
      return true
    }
    const origin = isFromOtherSite(req) ? undefined : originOf(pepper, id, posted, Date.now())
    if (!origin) {
      sendPage(
        req,
        res,
        notSentPage(403, ({ messages }) => messages.postOnly.text),
      )
      return true
    }
    const answered = form.schema.safeParse(Object.fromEntries(posted))
    if (!answered.success) {
      const json = { message: firstProblem(answered.error) }
      sendPage(req, res, (view) => ({ ...notSentPage(400, problemOf(answered.error))(view), json }))
      return true
    }
    // a program that filled in the hidden field is thanked like a person, so that it does not try again
    if (!posted.get('website')) await give(found.account, id, origin.link, withoutEmpty(answered.data))
    sendPage(req, res, thanksPage(form.type, origin.to))
    return true
  }

  return withPrefix(async (req, res) => {
    const id = Number(path.exec(req.url ?? '')?.[1] ?? 0)
    if (req.method !== 'POST') {
      sendPage(req, res, pages.postOnly)
      return true
    }
    const from = addressBlock(clientAddress(req, trustProxy))
    const { over, wait } = await limiter.count(`answer ${from}`, rate.limit, rate.seconds)
    const posted = await readForm(req, formLimit)
    if (!over) return receive(req, res, id, posted)
    sendPage(req, res, notSentPage(429, tooMany(wait), { 'Retry-After': String(wait) }))
    return true
  }, true)
}
