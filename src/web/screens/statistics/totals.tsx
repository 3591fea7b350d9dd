import type { ComponentChildren } from 'preact'
import { figure, fill, t } from '../../core/texts.ts'
import { visitsLink } from '../../core/router.ts'

export interface Total {
  readonly name: string
  readonly n: number | undefined
  readonly before?: number | undefined
  /** instead of the comparison */
  readonly note?: ComponentChildren
  readonly href?: string
  readonly current?: boolean
  /** what the counted visits have in common */
  readonly visits?: Readonly<Record<string, string>>
}

/** A difference has a sign and a color, and says from what. */
const Versus = ({ n, before }: { readonly n: number; readonly before: number }) => {
  const from = fill(t().totals.from, { n: figure(before) })
  if (before === 0) return <span class="versus">{from}</span>
  const percent = (100 * (n - before)) / before
  const sign = percent < 0 ? '−' : '+'
  return (
    <span class="versus">
      <span class={percent < 0 ? 'down' : 'up'}>
        {sign}
        {figure(Math.abs(percent), 1)} %
      </span>{' '}
      {from}
    </span>
  )
}

/** by how many there are */
const classes: Readonly<Record<number, string>> = { 3: ' three', 4: ' four' }

/** An accounting line: what was counted, closed by a double rule. One of the totals is drawn below. */
export const Totals = ({ totals }: { readonly totals: readonly Total[] }) => {
  const Open = visitsLink.value
  return (
    <ul class={`totals${classes[totals.length] ?? ''}`} aria-label={t().totals.label}>
      {totals.map(({ name, n, before, note, href, current, visits }) => {
        const Part = (href === undefined ? 'div' : 'a') as 'a'
        return (
          <li key={name}>
            <Part class="total" {...(href !== undefined && { href })} aria-current={current ? 'true' : undefined}>
              <span class="name">{name}</span>
              <span class="figure">{n === undefined ? <span class="pulse" /> : figure(n)}</span>
              {note === undefined && n !== undefined && before !== undefined ? (
                <Versus n={n} before={before} />
              ) : (
                <span class="versus">{note ?? '\u00a0'}</span>
              )}
            </Part>
            {Open && visits && <Open name={name} visits={visits} />}
          </li>
        )
      })}
    </ul>
  )
}
