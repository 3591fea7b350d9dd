import { withoutScheme } from '../../core/address.ts'
import type { HistoryEntry, HistoryEntryList } from '../../../http/history/contract/history.ts'
import type { Revision } from '../../../http/history/contract/revisions.ts'
import { useLoad } from '../../core/load.ts'
import { past } from '../../core/past.ts'
import { href } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { fill, figure } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { Section } from '../../parts/section.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { Entry } from '../history/entry.tsx'

const series = 5

/** Returns the color of each destination: the same in every revision, so that they can be compared at a glance. */
const colorsOf = (revisions: readonly Revision[]): ReadonlyMap<string, string> => {
  const sums = new Map<string, number>()
  for (const { sent } of revisions)
    for (const { destination, clicks } of sent) sums.set(destination, (sums.get(destination) ?? 0) + clicks)
  const sorted = [...sums].toSorted(([, one], [, other]) => other - one)
  return new Map(sorted.map(([destination], n) => [destination, n < series ? `s${n + 1}` : 'srest']))
}

/** Returns the rule that led there, in words; empty for the destination of the link itself. */
const ruleInWords = (rule: string) => {
  const texts = t().blast.byRule
  const [name = '', value = ''] = rule.split(/:(.*)/s)
  const text = name in texts ? texts[name as keyof typeof texts] : texts.other
  return fill(text, { value, rule })
}

interface BlastProps {
  readonly link: number
  readonly revision: Revision
  readonly colors: ReadonlyMap<string, string>
}

/**
 * How many clicks a revision has sent where: a bar, and a line for each destination and rule. They add up to its
 * clicks.
 */
const Blast = ({ link, revision: { revision, clicks, sent }, colors }: BlastProps) => {
  const texts = t().blast
  const visits = (more: Readonly<Record<string, string>> = {}) =>
    href('/visits', { link: String(link), revision: String(revision), class: 'human', period: 'all', ...more })
  const rows = sent.filter((one) => one.clicks > 0)
  if (rows.length === 0) return <p class="blast quiet">{texts.none}</p>
  return (
    <div class="blast">
      <p class="sum">
        {texts.clicks}{' '}
        <a class="num" href={visits()}>
          {figure(clicks)}
        </a>
      </p>
      <div class="bar" aria-hidden="true">
        {rows.map(({ destination, rule, clicks: n }) => (
          <i
            key={`${rule} ${destination}`}
            class={colors.get(destination)}
            style={{ '--share': `${(100 * n) / clicks}%` }}
          />
        ))}
      </div>
      <ul>
        {rows.map(({ destination, rule, clicks: n }) => (
          <li key={`${rule} ${destination}`} class={colors.get(destination)}>
            <a class="num" href={visits({ destination, rule })}>
              {figure(n)}
            </a>
            <span class="where">
              {texts.to} <bdi>{withoutScheme(destination)}</bdi> <span class="why">{ruleInWords(rule)}</span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

const placeOf = (entry: HistoryEntry, newest: HistoryEntry | undefined, here: HistoryEntry | undefined) => {
  const shown = past.value
  if (!shown) return entry === newest ? 'current' : 'older'
  if (entry === here) return 'here'
  return moment(entry.time) > shown.time ? 'later' : 'older'
}

/** Whether an entry is in force at the moment that is shown. */
const isInForce = (entry: HistoryEntry) => {
  const shown = past.value
  if (!shown) return true
  const [, event] = /^event:(\d+)$/.exec(shown.at) ?? []
  if (event !== undefined) return entry.event !== null && entry.event <= Number(event)
  return moment(entry.time) <= shown.time
}

interface LinkHistoryProps {
  readonly id: number
  readonly revisions: readonly Revision[]
}

/** The newest changes of a link, and what each did to its visitors. */
export const LinkHistory = ({ id, revisions }: LinkHistoryProps) => {
  // later changes stay in sight in the past
  const history = useLoad<HistoryEntryList>(`/api/url/${id}/history?limit=8`, { ofNow: true })
  const texts = t().blast
  const entries = history.data?.data.events ?? []
  const colors = colorsOf(revisions)
  const here = past.value && entries.find(isInForce)
  return (
    <Section title={texts.title} tools={<a href={href('/history', { of: `url-${id}` })}>{texts.all}</a>}>
      {history.error && <Failed error={history.error} reload={history.reload} />}
      {!history.data && !history.error && <Skeleton rows={6} label={texts.title} />}
      <ol class="event-list">
        {entries.map((entry) => {
          const revision = entry.event === null ? undefined : revisions.find(({ event }) => event === entry.event)
          return (
            <Entry
              key={`${entry.event} ${entry.revision} ${entry.type}`}
              entry={entry}
              place={placeOf(entry, entries[0], here)}
              named={false}
            >
              {revision && <Blast link={id} revision={revision} colors={colors} />}
            </Entry>
          )
        })}
      </ol>
    </Section>
  )
}
