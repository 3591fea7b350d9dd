import { t } from '../core/alltexts.ts'
import { href } from '../core/router.ts'
import { figure, fill } from '../core/texts.ts'

interface VisitsProps {
  readonly n: number
  /** what was counted, for users who do not see the table */
  readonly name: string
  /** what the visits have in common */
  readonly of: Readonly<Record<string, string>>
  /** replaces the figure */
  readonly text?: string
}

/** An all-time figure, which leads to its visits. */
export const Visits = ({ n, name, of, text = figure(n) }: VisitsProps) =>
  n === 0 ? (
    <>{text}</>
  ) : (
    <a
      class="opens"
      href={href('/visits', { class: 'human', period: 'all', ...of })}
      aria-label={`${text}. ${fill(t().through.visits, { name })}`}
    >
      {text}
    </a>
  )
