import type { ComponentChildren } from 'preact'
import { inUtc, type MomentForm, momentText } from '../core/time.ts'

interface WhenProps {
  readonly at: Date
  readonly as?: MomentForm
}

/** A moment as clocks of the reader show it; in UTC for who points at it. */
export const When = ({ at, as }: WhenProps) => (
  <time dateTime={at.toISOString()} title={inUtc(at)}>
    {momentText(at, as)}
  </time>
)

/** Fills `{name}` in a text with what is shown there, such as a moment. */
export const filled = (
  text: string,
  values: Readonly<Record<string, ComponentChildren>>,
): readonly ComponentChildren[] => text.split(/(\{\w+\})/).map((part) => values[part.slice(1, -1)] ?? part)
