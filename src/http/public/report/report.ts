import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Blocks } from '../../../cache/blocks.ts'
import type { Targets } from '../../../cache/targets.ts'
import { withRandomAlias } from '../../../commands/links/alias.ts'
import type { Handler as CommandHandler } from '../../../commands/handle.ts'
import { report, type ReportCommand } from '../../../commands/operator/report.ts'
import { ReportReason } from '../../../events/operator/report.ts'
import { addressBlock, clientAddress, type TrustedProxies } from '../../../lib/address.ts'
import { email, text } from '../../../lib/fields.ts'
import { reference } from '../../../lib/reference.ts'
import { readShortAddress } from '../../../lib/short/address.ts'
import type { Reader } from '../../../queries/reader.ts'
import { findAddressed, listPath } from '../../../queries/operator/shortaddress.ts'
import { countNetworks, type Limiter } from '../../api/limits/limiter.ts'
import type { DomainNames } from '../../links/filter.ts'
import { type LinkAddresses, short } from '../../links/address.ts'
import { isFromOtherSite, readForm } from '../postedform.ts'
import type { SendPage } from '../page/page.ts'
import { otherSitePage, pages, type TextOf } from '../page/messages.ts'
import type { Redirect } from '../redirect.ts'
import { isDeliberate, type ReportForm, reportPage, reportSentPage, reportToken } from './form.ts'
import type { PublicHandler } from '../responses.ts'
import { counted } from '../texts/languages.ts'

export interface ReportPagesOptions extends Pick<Redirect, 'handle' | 'sendFailure'>, LinkAddresses, DomainNames {
  readonly blocks: Pick<Blocks, 'addressOn'>
  readonly sendPage: SendPage
  readonly handler: CommandHandler
  readonly reader: Reader
  readonly targets: Pick<Targets, 'get'>
  readonly limiter: Limiter
  /** key of the signature in the form */
  readonly pepper: Buffer
  readonly trustProxy: TrustedProxies
}

const rate = { limit: 10, seconds: 600 }
/** reports of the same thing that are stored in an hour: the operator knows of it then */
const mostOfSubject = 100
/** bytes: an address and 1,000 characters, percent-encoded */
const formLimit = 32_768

const Report = z.object({
  link: text(2048).trim().min(1),
  reason: z.enum(ReportReason.options),
  details: text(1000).trim().default(''),
  email: z.union([z.literal(''), email]).default(''),
})
type Field = keyof z.output<typeof Report>
type Reported = Pick<Extract<ReportCommand, { type: 'SendReport' }>, 'kind' | 'subject' | 'account' | 'address'>

const problem = (field: Field): { readonly field: Field; readonly text: TextOf } => ({
  field,
  text: ({ report: { problems } }) => problems[field],
})
const tooMany =
  (seconds: number): TextOf =>
  (texts) =>
    counted(texts, texts.report.problems.tooMany, Math.ceil(seconds / 60))

/**
 * Returns a function that finds what a visitor reports by its address. An address without a host is on the host of the
 * request.
 */
const createFindReported = (options: ReportPagesOptions) => {
  const { baseUrl, blocks, domains, isMainHost, reader, targets } = options
  /** Returns the id of the branded domain at a host, null for the service's own, undefined for any other. */
  const domainAt = (given: string | undefined, requested: string) => {
    const host = given ?? requested
    const known = domains.byHost(host)
    if (known) return known.id
    return given === undefined || given === requested.toLowerCase() || isMainHost(host) ? null : undefined
  }

  /** Returns what is at the first of some aliases that leads anywhere. */
  const firstTarget = async (domain: number | null, keys: readonly string[]) => {
    for (const key of keys) {
      const target = await targets.get(domain, key)
      if (target) return [key, target] as const
    }
    return ['', undefined] as const
  }

  return async (link: string, requested: string): Promise<Reported | undefined> => {
    const address = readShortAddress(link, (host) => domains.byHost(host ?? requested)?.exact === true)
    const domain = address && domainAt(address.host, requested)
    if (!address || domain === undefined) return undefined
    if (address.kind === 'alias') {
      const host = address.host ?? requested
      // what had this address is blocked already, and the link of our own host there is another one
      if (domain === null && blocks.addressOn(host, address.name) && !isMainHost(host)) return undefined
      const [key, target] = await firstTarget(domain, address.keys)
      if (!target || 'qr' in target) return undefined
      const found =
        'bio' in target
          ? ({ kind: 'bio', subject: target.bio } as const)
          : ({ kind: 'link', subject: target.link } as const)
      return {
        ...found,
        account: target.account,
        address: short({ domain, alias: key }, { baseUrl, domains }),
      }
    }
    const found = await findAddressed(reader, domain, address)
    if (found?.status !== 'active') return undefined
    const path = { qr: `qr/${found.name}`, campaign: `r/${found.name}`, list: `u/${listPath(found)}` }[address.kind]
    return {
      kind: address.kind === 'qr' ? 'qr' : 'campaign',
      subject: found.id,
      account: found.account,
      address: `${baseUrl()}/${path}`,
    }
  }
}

/** Returns a function that stores a report, and returns its id. */
const createStore =
  (handler: CommandHandler) =>
  (reported: Reported, { reason, details, email }: z.output<typeof Report>) =>
    withRandomAlias(async (id) => {
      const { account } = reported
      const command = { type: 'SendReport', id, ...reported, reason, message: details, email } as const
      await handler.handle(report, command, {
        account,
        actor: { kind: 'visitor' },
        request: randomUUID(),
        command: randomUUID(),
        at: new Date().toISOString(),
      })
      return id
    })

/** Returns a function that receives the form, and sends it again with what is wrong, or thanks. */
const createReceive = (options: ReportPagesOptions) => {
  const { handler, limiter, pepper, sendPage, trustProxy } = options
  const findReported = createFindReported(options)
  const store = createStore(handler)

  return async (req: IncomingMessage, res: ServerResponse) => {
    if (isFromOtherSite(req)) return sendPage(req, res, otherSitePage)
    const [block, now] = [addressBlock(clientAddress(req, trustProxy)), Date.now()]
    const { over, wait } = await countNetworks(limiter, 'report', block, rate.limit, rate.seconds)
    const posted = await readForm(req, formLimit)
    const given = (name: string) => posted?.get(name) ?? ''
    const again = (form: Pick<ReportForm, 'status' | 'problem' | 'headers'>) => {
      const token = reportToken(pepper, block, now)
      const fields = { link: given('link'), reason: given('reason'), details: given('details'), email: given('email') }
      return sendPage(req, res, reportPage({ token, ...fields, ...form }))
    }
    if (over) {
      const headers = { 'Retry-After': String(wait) }
      return again({ status: 429, problem: { field: undefined, text: tooMany(wait) }, headers })
    }
    if (!posted) return again({ status: 413, problem: problem('details') })
    if (!isDeliberate(req, pepper, block, given('token'), now))
      return again({ status: 403, problem: { field: undefined, text: (texts) => texts.report.problems.form } })
    const { data, error } = Report.safeParse(Object.fromEntries(posted))
    if (error) {
      const field = (error.issues[0]?.path[0] as Field | undefined) ?? 'link'
      return again({ status: 400, problem: problem(field) })
    }
    const reported = await findReported(data.link, req.headers.host ?? '')
    if (!reported) return again({ status: 400, problem: problem('link') })
    const { kind, subject } = reported
    const known = await limiter.count(`reports of ${kind} ${subject}`, mostOfSubject, 3600)
    // a program that filled in the hidden field is thanked like a person, so that it does not try again
    const id =
      given('website') || known.over ? await withRandomAlias(async (alias) => alias) : await store(reported, data)
    return sendPage(req, res, reportSentPage(reference(id)))
  }
}

/**
 * Serves `/report`, on every host: a form for visitors, and what it sends. A link that has this alias since before the
 * form keeps it; the form is then at `/report?link=`.
 */
export const createReportPages = (options: ReportPagesOptions): PublicHandler => {
  const { domains, pepper, sendFailure, sendPage, targets, trustProxy } = options
  const receive = createReceive(options)
  return async (req, res) => {
    const { method, url = '' } = req
    const query = new URLSearchParams(url.split('?')[1])
    const link = query.get('link')
    try {
      const domain = domains.byHost(req.headers.host ?? '')?.id ?? null
      if (link === null && (await targets.get(domain, 'report'))) return await options.handle(req, res)
      if (method === 'POST') return await receive(req, res)
      if (method !== 'GET' && method !== 'HEAD') return sendPage(req, res, pages.methodNotAllowed)
      const token = reportToken(pepper, addressBlock(clientAddress(req, trustProxy)), Date.now())
      return sendPage(
        req,
        res,
        reportPage({ status: 200, token, link: link?.slice(0, 2048) ?? '', reason: query.get('reason') ?? '' }),
      )
    } catch (error) {
      return sendFailure(req, res, error)
    }
  }
}
