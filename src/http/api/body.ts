import { isUtf8 } from 'node:buffer'
import type { Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import { isWithin, readJson } from '../../lib/strangers.ts'
import { fail } from './errors.ts'

/** What the JSON object of a request may have, and one of its rows. */
export const jsonLimits = { levels: 8, values: 3000 }

/** A kind of body that a route reads. */
export interface BodyKind {
  /** the content types that are read; `` when none is sent */
  readonly isKnown: (type: string) => boolean
  /** what is said of another one */
  readonly mustBe: 'json' | 'rows'
  /** the largest body, in KiB */
  readonly kib: number
}

const collect = async (ctx: Context, kib: number, onBytes: (size: number) => Promise<void>): Promise<Buffer> => {
  const parts: Buffer[] = []
  let size = 0
  // leaving the loop must not close the connection: a client that still sends would not get the answer
  for await (const part of ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length
    if (size > kib * 1024) break
    await onBytes(size)
    parts.push(part)
  }
  if (size > kib * 1024) {
    ctx.req.resume() // otherwise the unread rest of the body blocks the connection
    fail(413, 'body_too_large', kib < 1024 ? { kib } : { what: 'mib', mib: kib / 1024 })
  }
  return Buffer.concat(parts)
}

/** Returns the content type of the request's body. Fails with 415 for a body that is not read. */
const typeOf = (ctx: Context, { isKnown, mustBe }: BodyKind): string => {
  const [type = '', ...parameters] = ctx
    .get('Content-Type')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  if (!isKnown(type)) fail(415, 'wrong_content_type', { what: mustBe })
  const charset = parameters.find((one) => one.startsWith('charset='))
  if (charset && !/^charset="?(?:utf-?8|us-ascii)"?$/.test(charset))
    fail(415, 'wrong_content_type', { what: 'charset' })
  const encoding = ctx.get('Content-Encoding').toLowerCase()
  if (encoding && encoding !== 'identity') fail(415, 'wrong_content_type', { what: 'encoding' })
  // names of codings have no letter case (RFC 9110, 8.4.1), but the parser knows one
  if (encoding) ctx.req.headers['content-encoding'] = encoding
  return type
}

/**
 * Returns the bytes of the request's body, which are UTF-8, and their content type. `onBytes` is called with as many as
 * have arrived or are announced, before they are kept; when it fails, so does this. Fails with 415, 413 or 400.
 */
export const readBytes = async (ctx: Context, kind: BodyKind, onBytes: (size: number) => Promise<void>) => {
  const type = typeOf(ctx, kind)
  const charge = async (size: number) => {
    try {
      await onBytes(size)
    } catch (error) {
      ctx.req.resume() // otherwise the unread rest of the body blocks the connection
      throw error
    }
  }
  // one that waits for its end would else hold its memory for nothing
  await charge(Math.min(ctx.request.length || 0, kind.kib * 1024))
  const bytes = await collect(ctx, kind.kib, charge).catch((error: unknown) => {
    // the connection is open: the bytes were refused
    if (!ctx.req.destroyed) throw error
    return fail(400, 'wrong_body', { what: 'end' })
  })
  return { type, bytes }
}

/** Returns the text of bytes that a client has sent. Fails with 400. */
export const textOf = (bytes: Buffer): string => {
  if (!isUtf8(bytes)) fail(400, 'wrong_body', { what: 'utf8' })
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

const json: BodyKind = {
  isKnown: (type) => type === '' || type === 'application/json',
  mustBe: 'json',
  kib: 64,
}

const parseBody = bodyParser({ enableTypes: ['json'], jsonLimit: `${json.kib}kb`, detectJSON: () => true })

/** Returns the JSON object in the request's body, `{}` for an empty body. Fails with 415, 413 or 400. */
export const readBody = async (ctx: Context): Promise<unknown> => {
  typeOf(ctx, json)
  const bytes: Buffer[] = []
  const keep = (part: Buffer) => void bytes.push(part)
  ctx.req.on('data', keep)
  await parseBody(ctx, () => Promise.resolve()).catch(({ status }: { readonly status?: number }) => {
    if (status !== 413) return fail(400, 'wrong_body', { what: 'object' })
    ctx.req.off('data', keep).resume() // otherwise the unread rest of the body blocks the connection
    return fail(413, 'body_too_large', { kib: json.kib })
  })
  const { body, rawBody = '' } = ctx.request as { readonly body: unknown; readonly rawBody?: string }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) fail(400, 'wrong_body', { what: 'object' })
  if (!isUtf8(Buffer.concat(bytes))) fail(400, 'wrong_body', { what: 'utf8' })
  if (!isWithin(rawBody, jsonLimits)) fail(400, 'too_many', { what: 'levels', ...jsonLimits })
  return body
}

/** what a text begins with besides spaces, and the mark of UTF-8 */
const beginning = /[^\s\xef\xbb\xbf]/

/**
 * Returns the JSON object in the body of a request for a route that takes none, whatever its content type; undefined
 * for anything else, of which the beginning alone is read. Fails with 413 or 400.
 */
export const readUnasked = async (ctx: Context): Promise<unknown> => {
  const { req } = ctx
  // null: it has none
  if (ctx.is() === null) return undefined
  const parts: Buffer[] = []
  let [size, first] = [0, '']
  try {
    for await (const part of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      parts.push(part)
      size += part.length
      first ||= beginning.exec(part.toString('latin1'))?.[0] ?? ''
      if ((first && first !== '{') || size > json.kib * 1024) break
    }
  } catch (error) {
    if (!req.destroyed) throw error
    fail(400, 'wrong_body', { what: 'end' })
  }
  req.resume() // otherwise the unread rest of the body blocks the connection
  if (first !== '{') return undefined
  if (size > json.kib * 1024) fail(413, 'body_too_large', { kib: json.kib })
  const text = Buffer.concat(parts)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  const read = readJson(text, jsonLimits)
  return 'value' in read ? read.value : undefined
}
