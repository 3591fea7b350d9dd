import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import type { Revisions } from '../../commands/handle.ts'
import { fail, failField } from './errors.ts'
import type { Route } from './route.ts'

interface Single {
  readonly details?: { readonly revision?: unknown }
  readonly data?: { readonly revision?: unknown; readonly clicks?: unknown }
}

/**
 * Returns the tag of an answer about one resource: its revision, its clicks if it has statistics, and a digest of
 * everything in the answer. The digest is needed because an answer also shows what is not in the resource's stream: its
 * channels, names of others, statistics, the base URL.
 */
export const tagOf = (answer: object): string => {
  const { details, data } = answer as Single
  const { revision } = details ?? data ?? {}
  if (typeof revision !== 'number') throw new Error('an answer about one resource must have its revision')
  const clicks = typeof data?.clicks === 'number' ? `.${data.clicks}` : ''
  return `"${revision}${clicks}-${createHash('sha256').update(JSON.stringify(answer)).digest('base64url').slice(0, 11)}"`
}

/** characters and tags that a header with tags may have: a client knows a few versions of what it asks for */
const lengthLimit = 2048
const tagLimit = 50

const tooLarge = (name: string) =>
  fail(431, 'too_many', { what: 'etags', field: name, max: lengthLimit, tags: tagLimit })

const tagOrEnd = /[\s,]*(?:(?<weak>W\/)?(?<tag>"[\x21\x23-\x7e\x80-\xff]*")\s*(?=,|$)|$)/y

/**
 * Returns the tags of the list in a header (RFC 9110, 8.8.3); undefined for anything that is no such list. Fails with
 * 431 for a long one.
 */
const tagsOf = (name: string, list: string) => {
  if (list.length > lengthLimit) tooLarge(name)
  const tags: { readonly weak: boolean; readonly tag: string }[] = []
  for (tagOrEnd.lastIndex = 0; tagOrEnd.lastIndex < list.length;) {
    const found = tagOrEnd.exec(list)?.groups
    if (!found) return undefined
    if (found['tag'] !== undefined) tags.push({ weak: found['weak'] !== undefined, tag: found['tag'] })
    if (tags.length > tagLimit) tooLarge(name)
  }
  return tags.length > 0 ? tags : undefined
}

/** A longer header was cut. */
const isAny = (header: string) => header.length <= lengthLimit && header.trim() === '*'

/** Whether the client has this answer already. Weak comparison: the prefix `W/`, which proxies add, does not matter. */
const isKnown = (header: string, tag: string) =>
  isAny(header) || (tagsOf('If-None-Match', header)?.some((known) => known.tag === tag) ?? false)

/** Answers with 304 and no body when `If-None-Match` names the answer. */
export const sendTagged = (ctx: Context, answer: object) => {
  const tag = tagOf(answer)
  const known = isKnown(ctx.get('If-None-Match'), tag)
  ctx.set('ETag', tag)
  ctx.body = answer
  if (known) ctx.status = 304
}

/**
 * Returns the revisions that `If-Match` allows to be changed; undefined allows any. Of a tag, its revision counts:
 * other parts change without a change of the resource. Fails with 400 for what is no list of tags, and on routes that
 * do not change one resource: a condition is never ignored.
 */
export const allowedRevisions = (ctx: Context, { method, single }: Pick<Route, 'method' | 'single'>): Revisions => {
  const header = ctx.req.headers['if-match']
  if (header === undefined || method === 'get') return undefined
  if (!single) failField('If-Match', 'not_supported', { what: 'condition' })
  if (isAny(header)) return undefined
  const tags = tagsOf('If-Match', header)
  if (!tags) return failField('If-Match', 'wrong_form', { what: 'etags' })
  return tags.flatMap(({ weak, tag }) => {
    const revision = /^"(\d{1,15})[".-]/.exec(tag)?.[1]
    return weak || revision === undefined ? [] : [Number(revision)]
  })
}
