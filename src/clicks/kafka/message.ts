import { z } from 'zod'
import { Classified, DroppedAccounts } from '../../events/statistics/click.ts'
import type { ClickEntry } from '../entry.ts'

const Origin = z.object({
  /** format version; a field may be added without a new version, so readers ignore fields they do not know */
  v: z.literal(1),
  /** id of the event log that the click belongs to: one topic may carry the clicks of several */
  log: z.string().min(1),
  /** id of the spool that numbered the entry */
  spool: z.string().min(1),
  /** counts up by one within (spool, partition): a number seen before is a repetition, a number left out is a loss */
  seq: z.int().min(1),
})

const Clicked = Origin.extend({ click: Classified, rules: z.int() })
const Dropped = Origin.extend({
  dropped: z.object({
    count: z.int().min(1),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    accounts: DroppedAccounts.optional(),
  }),
})

/**
 * The JSON of one message in the click topic: an answered visit, or how many visits could not be kept. See
 * docs/clicks-topic.md.
 */
export const Message = z.union([Clicked, Dropped])

/** A message in a format that only a newer version of this program knows. It must not be skipped. */
export class NewerMessage extends Error {
  override readonly name = 'NewerMessage'
}

/**
 * A message of our own event log and format version that does not fit the schema. It may be a click, so it must not be
 * skipped.
 */
export class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage'
  readonly offset: number

  constructor(offset: number, json: object) {
    super(
      `the message at offset ${offset} has format version 1 but does not fit it (${misfits(json)}): update Linkledger if a newer version sent it, or delete the message to skip it, as docs/operations.md says under "A message that halts a partition"`,
    )
    this.offset = offset
  }
}

/** Names the fields that do not fit, without their values. */
const misfits = (json: object) => {
  const issues = ('dropped' in json ? Dropped : Clicked).safeParse(json).error?.issues ?? []
  return issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
    .join('; ')
}

/** The clicks of a link (`link:42`) keep their order, and so do those of a QR code that leads to no link (`qr:7`). */
const keyOf = (entry: ClickEntry) => {
  if ('dropped' in entry) return null
  const { link, source } = entry.click
  return link === 0 ? `${source.kind}:${source.id}` : `link:${link}`
}

/** Encodes an entry as the key and value of a Kafka message. `log` is the id of the event log. */
export const encode = (log: string, entry: ClickEntry): { readonly key: string | null; readonly value: string } => {
  const { offset: _, spool, seq, ...content } = entry
  return {
    key: keyOf(entry),
    value: JSON.stringify({ v: 1, log, spool, seq, ...content } satisfies z.input<typeof Message>),
  }
}

/**
 * Decodes a message's value; undefined when it is not one of ours. `ourLog` is the id of our event log. Throws
 * `NewerMessage`, and `InvalidMessage`; a message that names another event log is for another installation to judge.
 */
export const decode = (
  value: Buffer | null,
  offset: number,
  ourLog: string,
): { readonly log: string; readonly entry: ClickEntry } | undefined => {
  const json = parseJson(value)
  const { data } = Message.safeParse(json)
  if (data) {
    const { v: _, log, ...entry } = data
    return { log, entry: { ...entry, offset } }
  }
  const { data: found } = Recognizable.safeParse(json)
  if (!found || (found.log !== undefined && found.log !== ourLog)) return undefined
  if (found.v === 1 && found.log !== undefined) throw new InvalidMessage(offset, found)
  if (found.v > 1 && found.spool !== undefined)
    throw new NewerMessage(
      `the message at offset ${offset} has format version ${found.v}: update Linkledger to a version that reads it`,
    )
  return undefined
}

/** Reads where a message was numbered; undefined when it is not one of our format version. */
export const originOf = (value: Buffer): z.infer<typeof Origin> | undefined => Origin.safeParse(parseJson(value)).data

/** What a message must have in any version to be recognized. */
const Recognizable = z.looseObject({
  v: z.int().min(1),
  log: z.string().optional().catch(undefined),
  spool: z.unknown(),
})

const parseJson = (value: Buffer | null): unknown => {
  try {
    return JSON.parse(value?.toString('utf8') ?? 'null')
  } catch {
    return undefined
  }
}
