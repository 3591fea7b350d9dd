import { z } from 'zod'
import { Classified } from '../../events/click.ts'
import type { ClickEntry } from '../visit.ts'

const Origin = z.object({
  /** the form of the message; a field may be added without a new one, so readers pass over what they do not know */
  v: z.literal(1),
  /** which event log the click belongs to: one topic may carry those of several */
  log: z.string().min(1),
  /** names the place where the entry was numbered */
  spool: z.string().min(1),
  /** counts up by one within (spool, partition): a number seen before is a repetition, one left out is a loss */
  seq: z.int().min(1),
})

/** One message of the topic of clicks, as JSON: a visit that was answered, or how many could not be kept. See docs/clicks-topic.md. */
export const Message = z.union([
  Origin.extend({ click: Classified, rules: z.int() }),
  Origin.extend({ dropped: z.object({ count: z.int().min(1), from: z.iso.datetime(), to: z.iso.datetime() }) }),
])

/** A message of a form that only a newer version of this program knows: it may not be passed over. */
export class NewerMessage extends Error {}

/** Whose clicks keep their order: a link's (`link:42`), or a QR code's that leads somewhere by itself (`qr:7`). */
const keyOf = (entry: ClickEntry) => {
  if ('dropped' in entry) return null
  const { link, source } = entry.click
  return link === 0 ? `${source.kind}:${source.id}` : `link:${link}`
}

export const encode = (log: string, entry: ClickEntry): { readonly key: string | null; readonly value: string } => {
  const { offset: _, spool, seq, ...content } = entry
  return {
    key: keyOf(entry),
    value: JSON.stringify({ v: 1, log, spool, seq, ...content } satisfies z.input<typeof Message>),
  }
}

/** Undefined for what is no message of ours. Throws `NewerMessage`. */
export const decode = (
  value: Buffer | null,
  offset: number,
): { readonly log: string; readonly entry: ClickEntry } | undefined => {
  const json = parseJson(value)
  const { data } = Message.safeParse(json)
  if (data) {
    const { v: _, log, ...entry } = data
    return { log, entry: { ...entry, offset } }
  }
  const { data: newer } = z.object({ v: z.int().min(2), spool: z.string() }).safeParse(json)
  if (newer)
    throw new NewerMessage(
      `the message at offset ${offset} is of form ${newer.v}, which a newer version of Linkledger reads`,
    )
  return undefined
}

const parseJson = (value: Buffer | null): unknown => {
  try {
    return JSON.parse(value?.toString('utf8') ?? 'null')
  } catch {
    return undefined
  }
}
