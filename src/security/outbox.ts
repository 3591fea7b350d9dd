import { z } from 'zod'
import type { Database } from '../postgres/database.ts'
import { deleteMail, insertMail, postponeMail, replaceMail, type StoredMail, takeMails } from '../postgres/mails.ts'
import { openOneTimeLinks } from './onetimelinks.ts'
import { sealBytes, unsealBytes } from './seal.ts'

const lang = z.string()
/**
 * the revision before the change; an older process sends none, and then the change must still hold when the mail is
 * sent
 */
const after = z.number().optional()
/**
 * Why a mail is to be sent. Whether it is sent, and its text, is decided later: a response must not show whether an
 * account exists.
 */
const Order = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('register'),
    lang,
    to: z.string(),
    username: z.string().optional(),
    timezone: z.string().optional(),
    password: z.string(),
  }),
  /** as long as the sign-in is the same as when the address was changed */
  z.object({ kind: z.literal('email'), lang, to: z.string(), signIn: z.string().optional() }),
  z.object({ kind: z.literal('reset'), lang, to: z.string() }),
  /** as long as the invitation of this member is open */
  z.object({ kind: z.literal('invitation'), lang, to: z.string(), member: z.number() }),
  /** to the old address, once the account has the new one, `email` */
  z.object({ kind: z.literal('emailChanged'), lang, to: z.string(), email: z.string() }),
  /** once the account has this hash */
  z.object({ kind: z.literal('passwordChanged'), lang, password: z.string() }),
  /** once the account is to be erased at `due` */
  z.object({ kind: z.literal('erasure'), lang, due: z.string() }),
  /** once deliveries have disabled the webhook */
  z.object({ kind: z.literal('webhookDisabled'), lang, webhook: z.number() }),
  /** once the account has had the key with this public id */
  z.object({ kind: z.literal('keyAdded'), lang, after, key: z.string() }),
  /** once the key with this public id has had these rights */
  z.object({
    kind: z.literal('keyWidened'),
    lang,
    after,
    key: z.string(),
    rights: z.object({
      scopes: z.array(z.string()),
      expires: z.string().nullable(),
      addresses: z.string().nullable(),
    }),
  }),
  /** once the webhook has had this address */
  z.object({ kind: z.literal('webhookMoved'), lang, after, webhook: z.number(), url: z.string() }),
  /** once the webhook existed */
  z.object({ kind: z.literal('webhookAdded'), lang, webhook: z.number() }),
  /** once it was removed */
  z.object({ kind: z.literal('secondFactorRemoved'), lang, after }),
  /** once another one was added */
  z.object({ kind: z.literal('secondFactorReplaced'), lang, after: z.number() }),
  /** once one was added or removed */
  z.object({ kind: z.enum(['passkeyAdded', 'passkeyRemoved']), lang, after: z.number() }),
  /** `browser` as its session is listed */
  z.object({ kind: z.literal('newBrowser'), lang, browser: z.string() }),
])
export type MailOrder = z.output<typeof Order>
/** A mail as it is sent. */
const Written = z.object({
  kind: z.literal('written'),
  /** the same when it is sent twice, so that the receiver can recognize it */
  id: z.string(),
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  /** the link in the text, and how long it works after the mail is sent */
  link: z.object({ token: z.string(), seconds: z.number() }).optional(),
})
export type WrittenMail = z.output<typeof Written>
const Content = z.union([Order, Written])

/** A mail that is due. */
export interface DueMail extends Omit<StoredMail, 'sealed'> {
  readonly content: MailOrder | WrittenMail
}

/** Mails to be handed over to the mail server, sealed under the service key. */
export interface Outbox {
  readonly order: (order: MailOrder, account?: number | null) => Promise<void>
  readonly take: (limit: number, seconds: number) => Promise<readonly DueMail[]>
  /**
   * Replaces an order with the written mail. `write` may issue the link in it, which exists if and only if the mail
   * does.
   */
  readonly write: (
    id: number,
    account: number | null,
    write: (issue: ReturnType<typeof openOneTimeLinks>['issue']) => Promise<WrittenMail>,
  ) => Promise<WrittenMail | undefined>
  readonly postpone: (id: number, seconds: number) => Promise<void>
  readonly remove: (id: number) => Promise<void>
}

const context = 'mail'
/** The mail was deleted while it was written: its account was erased. */
class Gone extends Error {
  override readonly name = 'Gone'
}

export const openOutbox = (db: Database, service: Buffer): Outbox => {
  const sealed = (content: MailOrder | WrittenMail) => sealBytes(service, context, JSON.stringify(content))
  return {
    order: (order, account = null) => insertMail(db, account, sealed(order)),
    take: async (limit, seconds) =>
      (await takeMails(db, limit, seconds)).map(({ sealed: content, ...mail }) => ({
        ...mail,
        content: Content.parse(JSON.parse(unsealBytes(service, context, content).toString())),
      })),
    write: async (id, account, write) => {
      try {
        return await db.transaction(async (tx) => {
          const mail = await write(openOneTimeLinks(tx, service).issue)
          if (!(await replaceMail(tx, id, account, sealed(mail)))) throw new Gone()
          return mail
        })
      } catch (error) {
        if (error instanceof Gone) return undefined
        throw error
      }
    },
    postpone: (id, seconds) => postponeMail(db, id, seconds),
    remove: (id) => deleteMail(db, id),
  }
}
