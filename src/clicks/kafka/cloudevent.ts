import type { ClickEntry } from '../entry.ts'

/** The types of our CloudEvents. */
export const eventTypes = { click: 'linkledger.click.v1', dropped: 'linkledger.clicks-dropped.v1' } as const

/**
 * Returns the headers of a message: the attributes of CloudEvents 1.0 in binary mode. A repeated message has the same
 * `ce_id`; `key` is that of the message.
 */
export const cloudEventHeaders = (
  log: string,
  partition: number,
  entry: ClickEntry,
  key: string | null,
): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  ce_specversion: '1.0',
  ce_id: `${entry.spool}:${partition}:${entry.seq}`,
  ce_source: `/linkledger/log/${encodeURIComponent(log)}`,
  ...('click' in entry
    ? { ce_type: eventTypes.click, ce_time: entry.click.at }
    : { ce_type: eventTypes.dropped, ce_time: entry.dropped.to }),
  ...(key === null ? {} : { ce_subject: key }),
})
