import { figure } from '../../core/texts.ts'
import { visitsLink } from '../../core/router.ts'

export interface BreakdownRow {
  readonly name: string
  readonly n: number
  readonly href?: string | undefined
  readonly current?: boolean
  /** what the counted visits have in common */
  readonly visits?: Readonly<Record<string, string>>
}
interface BreakdownProps {
  readonly rows: readonly BreakdownRow[]
  /** what the percentages are of */
  readonly total: number
}

/** Returns how many percent a number is of another one. */
export const share = (n: number, of: number) => (of === 0 ? 0 : (100 * n) / of)

/**
 * A list that is also a chart: the rule under a row is its bar, relative to the longest. Percentages are of the total.
 */
export const Breakdown = ({ rows, total }: BreakdownProps) => {
  const Open = visitsLink.value
  const longest = Math.max(1, ...rows.map(({ n }) => n))
  return (
    <ul class="breakdown">
      {rows.map(({ name, n, href, current, visits }) => {
        const Part = (href === undefined ? 'div' : 'a') as 'a'
        const style = { '--share': `${share(n, longest)}%` }
        return (
          <li key={name}>
            <Part
              class="row"
              {...(href !== undefined && { href })}
              style={style}
              aria-current={current ? 'true' : undefined}
            >
              <span class="name cut" title={name} dir="auto">
                {name}
              </span>
              <span class="num">{figure(n)}</span>
              <span class="share num">{figure(share(n, total), 1)} %</span>
            </Part>
            {Open && visits && <Open name={name} visits={visits} />}
          </li>
        )
      })}
    </ul>
  )
}
