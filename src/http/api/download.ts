import type { Readable } from 'node:stream'
import type { Context } from 'koa'

/** An answer that is made while it is sent. */
export interface Download {
  readonly download: {
    /** that a browser saves it under; missing when it is to be read at once */
    readonly name?: string
    readonly type: string
    readonly headers?: Readonly<Record<string, string>>
    /**
     * Makes no more once it is destroyed. An error ends the connection, so that a client never takes a part for the
     * whole. A whole body is bounded while it is unread, as all large answers are.
     */
    readonly content: Readable | Buffer
  }
}

export const isDownload = (answer: object): answer is Download => 'download' in answer

export const sendDownload = (ctx: Context, { download: { name, type, headers = {}, content } }: Download) => {
  ctx.type = type
  ctx.set(headers)
  if (name !== undefined) ctx.set('Content-Disposition', `attachment; filename="${name}"`)
  ctx.body = content
  // from here on, an error cannot become an answer in another form
  if (ctx.method !== 'HEAD' && !Buffer.isBuffer(content)) ctx.flushHeaders()
}

/** An answer that is a picture. */
export interface Picture {
  readonly picture: { readonly type: string; readonly body: Buffer; readonly headers: Readonly<Record<string, string>> }
}

export const isPicture = (answer: object): answer is Picture => 'picture' in answer

export const sendPicture = (ctx: Context, { picture: { type, body, headers } }: Picture) => {
  ctx.set(headers)
  ctx.type = type
  ctx.body = body
}
