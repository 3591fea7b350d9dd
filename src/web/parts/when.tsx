import { inUtc, momentOf } from '../core/time.ts'

/** A moment as clocks of the reader show it; in UTC for who points at it. */
export const When = ({ at, as = momentOf }: { readonly at: Date; readonly as?: (at: Date) => string }) => (
  <time dateTime={at.toISOString()} title={inUtc(at)}>
    {as(at)}
  </time>
)
