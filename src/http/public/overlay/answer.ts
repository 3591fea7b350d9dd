import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { account as accounts } from '../../../commands/accounts/account.ts'
import { answer } from '../../../commands/pages/answer.ts'
import type { Handler as CommandHandler } from '../../../commands/handle.ts'
import { link } from '../../../commands/links/link.ts'
import { overlay } from '../../../commands/pages/overlay.ts'
import type { OverlayFields } from '../../../events/pages/overlay.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../../lib/address.ts'
import { carried, email, firstProblem, must, says, text } from '../../../lib/fields.ts'
import { answerOf, Failure } from '../../api/errors.ts'
import { type LinkAddresses, short } from '../../links/address.ts'
import type { Blocks } from '../../../cache/blocks.ts'
import { countNetworks, type Limiter } from '../../api/limits/limiter.ts'
import { answerForm, originOf } from './signed.ts'
import { blockedPage, overlayWithoutBlocked } from '../blocked.ts'
import { isFromOtherSite, readForm } from '../postedform.ts'
import type { SendPage, WritePage } from '../page/page.ts'
import type { FieldName, FormType, WrongAnswer } from './form.ts'
import { type Answered, thanksPage, wrongAnswerPage } from './page.ts'
import { notSentPage, otherSitePage, pages, type TextOf } from '../page/messages.ts'
import type { Redirect } from '../redirect.ts'
import type { PublicHandler } from '../responses.ts'
import { counted } from '../texts/languages.ts'

export interface AnswerPagesOptions extends Pick<Redirect, 'withPrefix'> {
  readonly sendPage: SendPage
  readonly handler: CommandHandler
  readonly limiter: Limiter
  /** key of the signature in the form */
  readonly pepper: Buffer
  readonly trustProxy: TrustedProxies
  readonly blocks: Blocks
  readonly baseUrl: string
  readonly domains: LinkAddresses['domains']
  /** whether visitors use https */
  readonly secureCookies: () => boolean
}

const path = /^\/o\/([1-9]\d{0,14})(?:\?|$)/
const rate = { limit: 10, seconds: 60 }
/** bytes: a few fields of 1,000 characters, percent-encoded, and a URL */
const formLimit = 65_536

const maxLength = 1000
const written = text(maxLength).trim()
type Fields = Readonly<Partial<Record<FieldName, string>>>
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
        schema: z.object({ name: written.default(''), email, message: written.min(1, says('empty')) }),
      }
    case 'newsletter':
      return { type: 'newsletter', schema: z.object({ email }) }
    case 'poll':
      return { type: 'poll', schema: z.object({ choice: z.enum(options, must('not_one_of', { what: 'answer' })) }) }
    default:
      return undefined
  }
}

/**
 * Returns a refused answer as its form shows it: the values as they were sent, cut like those of an accepted one, and
 * each field's problem.
 */
const wrongOf = (posted: URLSearchParams, { issues }: z.ZodError): WrongAnswer => ({
  values: Object.fromEntries([...posted].map(([name, value]) => [name, value.slice(0, maxLength + 1)])),
  problems: Object.fromEntries(
    issues.map(
      ({ path: [name], message }) => [name, carried(message)?.code === 'too_long' ? 'tooLong' : 'wrong'] as const,
    ),
  ),
})

const tooLong: TextOf = ({ answer }) => answer.tooLong
const tooMany =
  (seconds: number): TextOf =>
  (texts) =>
    counted(texts, texts.answer.tooMany, seconds)

const withoutEmpty = (fields: Fields) =>
  JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')))

/** What an answer reads of the log, and adds to it. Answers are too rare for a cache. */
const openAnswers = ({ load, handle }: CommandHandler, addresses: LinkAddresses) => ({
  findOverlay: async (id: number) => {
    const { state } = await load(overlay, id)
    if (state.status !== 'open') return undefined
    const owner = await load(accounts, state.account)
    return owner.state.status === 'active' ? state : undefined
  },
  /** Returns the address of a link without its scheme; an empty string when it is unknown. */
  addressOf: async (id: number) => {
    const { state } = await load(link, id)
    return state.fields.alias && short(state.fields, addresses).replace(/^https?:\/\//, '')
  },
  give: (account: number, overlayId: number, linkId: number, fields: string) =>
    handle(
      answer,
      { type: 'GiveAnswer', answer: randomUUID(), overlay: overlayId, account, link: linkId, fields },
      {
        account,
        actor: { kind: 'visitor' },
        request: randomUUID(),
        command: randomUUID(),
        at: new Date().toISOString(),
      },
    ),
})

/** Returns the page after an answer; undefined when there is no such form. */
const createReceive = ({ handler, pepper, baseUrl, blocks, domains, secureCookies }: AnswerPagesOptions) => {
  const { findOverlay, addressOf, give } = openAnswers(handler, { baseUrl: () => baseUrl, domains })
  return async (id: number, posted: URLSearchParams | undefined): Promise<WritePage | undefined> => {
    if (!posted) return notSentPage(413, tooLong)
    // first: a stream is read only for who has been shown the form
    const origin = originOf(pepper, id, posted, Date.now())
    if (!origin) return otherSitePage
    const found = await findOverlay(id)
    const form = found && formOf(found.fields)
    if (!form) return undefined
    const address = await addressOf(origin.link)
    if (blocks.link(origin.link) || blocks.destination(origin.to))
      return (view) => blockedPage({ ...view, address: address || view.address })
    const overlay = overlayWithoutBlocked(found.fields, blocks)
    const answered: Answered = { type: form.type, overlay, url: origin.to, address, secure: secureCookies() }
    const { data, error } = form.schema.safeParse(Object.fromEntries(posted))
    if (error) {
      const again = answerForm(pepper, id, origin, Date.now())
      const failure = answerOf(new Failure(400, firstProblem(error)))
      return wrongAnswerPage(answered, again, wrongOf(posted, error), failure)
    }
    // a program that filled in the hidden field is thanked like a person, so that it does not try again
    if (!posted.get('website')) await give(found.account, id, origin.link, withoutEmpty(data))
    return thanksPage(answered, data.name ?? '')
  }
}

/**
 * Serves `/o/{id}`, on every host: it takes the answer to an overlay's form, and shows the page again with thanks or
 * with what is wrong.
 */
export const createAnswerPages = (options: AnswerPagesOptions): PublicHandler => {
  const { sendPage, limiter, trustProxy, withPrefix } = options
  const receive = createReceive(options)

  return withPrefix(async (req, res) => {
    const id = Number(path.exec(req.url ?? '')?.[1] ?? 0)
    if (req.method !== 'POST') {
      sendPage(req, res, pages.postOnly)
      return true
    }
    if (id === 0) return false
    if (isFromOtherSite(req)) {
      sendPage(req, res, otherSitePage)
      return true
    }
    const from = addressBlock(clientAddress(req, trustProxy))
    const { over, wait } = await countNetworks(limiter, 'answer', from, rate.limit, rate.seconds)
    const posted = await readForm(req, formLimit)
    const tooOften = notSentPage(429, tooMany(wait), { 'Retry-After': String(wait) })
    const page = over ? tooOften : await receive(id, posted)
    if (page) sendPage(req, res, page)
    return page !== undefined
  }, true)
}
