import type { Readable } from 'node:stream'
import type { Context } from 'koa'

/** An answer that is made while it is sent. */
export interface Download {
  readonly download: {
    /** that a browser saves it under */
    readonly name: string
    readonly type: string
    /** Makes no more once it is destroyed. An error ends the connection, so that a client never takes a part for the whole. */
    readonly content: Readable
  }
}

export const isDownload = (answer: object): answer is Download => 'download' in answer

export const sendDownload = (ctx: Context, { download: { name, type, content } }: Download) => {
  ctx.type = type
  ctx.set('Content-Disposition', `attachment; filename="${name}"`)
  ctx.body = content
  // from here on, an error cannot become an answer in another form
  if (ctx.method !== 'HEAD') ctx.flushHeaders()
}
