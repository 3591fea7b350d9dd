import { visitedItems } from '../../../events/subject.ts'
import { isWithin, itemKey, itemsWithin, type Within } from '../../../queries/streams/membership.ts'
import type { ClickBatch, ClickRow } from './batches.ts'
import { whole } from '../place.ts'
import { type Numbered, openEntries, type Source, type SourceOptions } from './source.ts'

/** Which clicks a stream has. */
export interface ClickFilter extends Within {
  readonly classes?: ReadonlySet<string> | undefined
}

const pass = async ({ reader, account }: SourceOptions, filter: ClickFilter, rows: readonly ClickRow[]) => {
  const { classes, link } = filter
  const chosen = rows.filter(
    ({ value }) => (link === undefined || value.link === link) && (!classes || classes.has(value.class)),
  )
  if (chosen.length === 0 || !isWithin({ ...filter, link: undefined })) return chosen
  const items = chosen.flatMap(({ value }) => visitedItems(value))
  const found = await itemsWithin(reader, account, filter, items)
  return chosen.filter(({ value }) => visitedItems(value).some((item) => found.has(itemKey(item))))
}

/** The clicks of an account in log order. Each page is a batch, or what is left of it. */
export const clickSource = (
  options: SourceOptions,
  filter: ClickFilter,
  load: (entry: Numbered) => Promise<ClickBatch>,
): Source => {
  const entries = openEntries('clicks', options)
  const isFiltered = Object.values(filter).some((part) => part !== undefined)
  return {
    isPending: entries.isPending,
    next: async (after) => {
      const [entry] = await entries.after(after)
      if (!entry) return undefined
      const { position } = entry
      const { rows, texts } = (await load(entry)).of(options.account)
      const left = position === after.position ? rows.filter(({ place }) => place.index > after.index) : rows
      const end = { position, index: whole }
      return isFiltered ? { rows: await pass(options, filter, left), end } : { rows: left, end, texts }
    },
  }
}
