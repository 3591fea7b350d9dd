import { z } from 'zod'
import { notStorable } from '../../lib/fields.ts'
import { isStorable } from '../../lib/storable.ts'
import { problem, type Problem, sentenceOf } from '../../lib/problems/problem.ts'
import { readJson } from '../../lib/strangers.ts'
import { startNotices } from '../reading.ts'
import { type Format, formats, ownFields, type SourceRecord } from '../records.ts'
import { recordLimit, textOf } from './blocks.ts'
import { frames } from './frames.ts'

const limits = { levels: 8, values: 10_000 }
const text = z.string().max(recordLimit).refine(isStorable, notStorable)
const moment = z.iso.datetime({ offset: true })
const count = z.int().min(0)
const place = z.union([z.strictObject({ line: count }), z.strictObject({ id: text })])
const url = text
const address = z.object({ host: text.optional().transform((host) => host), alias: text })
const target = z.object({ kind: z.enum(['device', 'location', 'language']), name: text, url })

const Line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('format'), format: z.enum(formats) }),
  z.object({
    kind: z.literal('link'),
    place,
    addresses: z.array(address).max(100),
    url,
    ...z
      .object({ title: text, description: text, tags: z.array(text), created: moment, expiry: moment, starts: moment })
      .partial().shape,
    ...z.object({ maxClicks: count, clicks: count, uniques: count }).partial().shape,
    ...z.object({ archived: z.boolean(), banned: z.boolean() }).partial().shape,
    password: z.union([z.literal('unknown'), z.object({ clear: text })]).optional(),
    targets: z.array(target).optional(),
    measured: count.optional(),
    fields: z.object(Object.fromEntries(ownFields.map((name) => [name, z.unknown()]))).optional(),
    notes: z.array(text).optional(),
    left: z.array(text).optional(),
  }),
  z.object({
    kind: z.literal('visit'),
    place,
    host: text.optional(),
    alias: text,
    at: moment,
    ...z.object({ referrer: text, userAgent: text, address: text, country: text }).partial().shape,
  }),
  z.object({
    kind: z.literal('notice'),
    notice: z.enum(['unknown_column', 'cut', 'no_zone', 'left_out', 'unread', 'unlisted', 'more']),
    params: z.record(z.string().max(64), z.union([text, z.number()])),
  }),
])

const asNotice = ({ place, problem: found }: Extract<SourceRecord, { kind: 'problem' }>): SourceRecord => {
  const message = `${'id' in place ? place.id : `line ${place.line}`}: ${sentenceOf(found)}`
  return { kind: 'notice', notice: 'unread', params: { message } }
}

/** Writes a record as a line that `readRecords` reads. */
export const lineOf = (record: SourceRecord | { readonly kind: 'format'; readonly format: Format }): string =>
  `${JSON.stringify(record.kind === 'problem' ? asNotice(record) : record)}\n`

/** Reads records that a command has read from an API and written as lines of JSON. */
export const readRecords = async function* (
  blocks: AsyncIterable<Buffer>,
  onFormat: (format: Format) => void,
): AsyncGenerator<SourceRecord> {
  const { note, notices, lastNotices } = startNotices()
  for await (const { line, bytes, fault } of frames(blocks)) {
    const wrong = (found: Problem) => ({ kind: 'problem' as const, place: { line }, problem: found })
    const read = fault ? undefined : readJson(textOf(bytes) ?? '', limits)
    const parsed = read && 'value' in read ? Line.safeParse(read.value) : undefined
    const odd = parsed?.error?.issues.find(({ message }) => message === notStorable)
    if (!parsed) yield wrong(problem('wrong_body', { what: 'row_json' }))
    else if (odd) yield wrong(problem('forbidden_characters', { field: odd.path.join('.') }))
    else if (!parsed.success) yield wrong(problem('wrong_body', { what: 'row' }))
    else if (parsed.data.kind === 'format') onFormat(parsed.data.format)
    else if (parsed.data.kind === 'notice' && parsed.data.notice !== 'unread') {
      note(parsed.data.notice, parsed.data.params)
      yield* notices()
    } else yield parsed.data as SourceRecord
  }
  yield* lastNotices()
}
