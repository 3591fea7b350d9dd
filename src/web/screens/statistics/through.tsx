import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { StatisticsAnswer, StatisticsRow } from '../../../http/statistics/contract/series.ts'
import { at, href, withQuery } from '../../core/router.ts'
import { allTexts, counted, fill, figure, loadTexts } from '../../core/texts.ts'
import { moment, momentText } from '../../core/time.ts'
import { filled, When } from '../../parts/when.tsx'
import { openVisits, visitsOf } from './openvisits.tsx'

export { openVisits }

/** What all screens but the first say: it is loaded before anything is shown. */
const t = () => allTexts.value!

interface Shown {
  readonly data: StatisticsAnswer['data']
  /** visits by class; undefined until they are there, null when they are too many to be counted */
  readonly kinds: readonly StatisticsRow[] | null | undefined
}

/** Up to which event the figures are complete: an account book has a line for that. */
const exact = ({ through: { event, at: stored, behind } }: Shown['data']) => {
  const texts = t().through
  if (event === null) return texts.noEvents
  return (
    <>
      {fill(texts.exact, { n: figure(event) })}
      {stored && (
        <>
          {' ('}
          <When at={moment(stored)} as="clock" />)
        </>
      )}
      {behind !== null && `, ${counted(texts.behind, behind)}`}
    </>
  )
}

/** What is not among the clicks, each with its number; those of visits lead to them. */
const LeftOut = ({ data, kinds }: Shown) => {
  const { through: texts, stats, overview } = t()
  // with a filter of kinds, the figures are those of these kinds
  if (kinds === undefined || at.value.query.get('class')) return null
  const names: Readonly<Record<string, string>> = { ...stats.classes, ...texts.kinds, bots: overview.bots }
  const visits = kinds ?? [{ value: 'bots', count: data.total.visits - data.total.clicks }]
  const parts: readonly (readonly [kind: string, n: number, to?: string])[] = [
    ...visits
      .filter(({ value }) => value !== 'human')
      .map(({ value, count }) => [value, count, visitsOf({ class: value })] as const),
    ['head', data.headRequests ?? 0],
    ['lost', (data.lost ?? []).reduce((sum, one) => sum + one.visits, 0)],
  ]
  const found = parts.filter(([, n]) => n > 0)
  if (found.length === 0) return texts.none
  return (
    <>
      {texts.left}
      {found.map(([kind, n, to]): ComponentChildren => {
        const text = `${names[kind] ?? kind} ${figure(n)}`
        return <> {to === undefined || kind === 'other' ? <span>{text}</span> : <a href={to}>{text}</a>}</>
      })}
    </>
  )
}

/** Says which visits could not be recorded: "12 visits of 3 May could not be recorded." */
const Lost = ({ lost = [] }: Shown['data']) => {
  const texts = t().lost
  const day = (at: string) => <When at={moment(at)} as="day" />
  const inWords = (from: string, to: string) =>
    momentText(moment(from), 'day') === momentText(moment(to), 'day')
      ? day(from)
      : filled(texts.between, { from: day(from), to: day(to) })
  return (
    <div class="notice">
      {lost.map(({ from, to, visits, of }) => (
        <p key={`${from} ${to} ${of}`}>
          {filled(counted(of === 'account' ? texts.own : texts.service, visits), { when: inWords(from, to) })}
        </p>
      ))}
      <p class="quiet">{texts.why}</p>
    </div>
  )
}

/** Which classes count: only where some visits have had others. */
const Counted = ({ classes }: Pick<Shown['data'], 'classes'>) => {
  const texts = t().classes
  const current = (one: typeof classes) => (one === classes ? 'true' : undefined)
  return (
    <span>
      <a href={withQuery({ classes: undefined })} aria-current={current('now')}>
        {texts.now}
      </a>{' '}
      <a href={withQuery({ classes: 'then' })} aria-current={current('then')}>
        {texts.then}
      </a>
    </span>
  )
}

/** How complete the figures are, and what they leave out. With it, they become links to their visits. */
export const Through = ({ data, kinds }: Shown) => {
  useEffect(() => void loadTexts().then(openVisits), [])
  if (!allTexts.value) return null
  return (
    <>
      {data.lost && <Lost {...data} />}
      <p class="exact">
        <span>{exact(data)}</span>{' '}
        <span>
          <LeftOut data={data} kinds={kinds} />
        </span>{' '}
        {data.classes && <Counted classes={data.classes} />} <a href={href('/classes')}>{t().classes.title}</a>{' '}
        <a href={href('/counting')}>{t().through.why}</a>
      </p>
    </>
  )
}
