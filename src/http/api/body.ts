import { isUtf8 } from 'node:buffer'
import type { Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import { fail } from './errors.ts'

const parseBody = bodyParser({ enableTypes: ['json'], jsonLimit: '64kb', detectJSON: () => true })

/** Returns the JSON object in the request's body, `{}` for an empty body. Fails with 415, 413 or 400. */
export const readBody = async (ctx: Context): Promise<unknown> => {
  const type = ctx.get('Content-Type')
  if (type && !/^application\/json\s*(;|$)/i.test(type)) fail(415, 'The body must be sent as application/json.')
  const encoding = ctx.get('Content-Encoding')
  if (encoding && encoding !== 'identity') fail(415, 'The body must be sent without a Content-Encoding.')
  const bytes: Buffer[] = []
  const collect = (part: Buffer) => void bytes.push(part)
  ctx.req.on('data', collect)
  await parseBody(ctx, () => Promise.resolve()).catch((error: { status?: number; type?: string }) => {
    if (error.status === 413) {
      ctx.req.off('data', collect).resume() // otherwise the unread rest of the body blocks the connection
      throw error
    }
    if (error.type === 'encoding.unsupported') fail(415, 'The body must be encoded in UTF-8.')
    fail(400, 'The body must be a JSON object.')
  })
  const { body } = ctx.request as { body: unknown }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) fail(400, 'The body must be a JSON object.')
  if (!isUtf8(Buffer.concat(bytes))) fail(400, 'The body must be valid UTF-8.')
  if (!isWithinLimits(body)) fail(400, 'The body must have at most 8 levels and 1,000 values.')
  return body
}

/** At most eight levels and 1,000 values. */
export const isWithinLimits = (body: unknown) => {
  let level = [body]
  let nodes = 0
  for (let depth = 0; level.length > 0; depth++) {
    nodes += level.length
    if (depth > 8 || nodes > 1000) return false
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value as object) : [],
    )
  }
  return true
}
