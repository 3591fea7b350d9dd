import type { PollCounts } from '../../../../http/pages/contract/overlay.ts'
import { useState } from 'preact/hooks'
import { csvOf, saveFile } from '../../../core/csv.ts'
import { useLoad } from '../../../core/load.ts'
import { t } from '../../../core/alltexts.ts'
import { fill, figure } from '../../../core/texts.ts'
import { Breakdown, share } from '../../statistics/breakdown.tsx'
import { Section } from '../../../parts/section.tsx'
import { Failed, Skeleton } from '../../../parts/states.tsx'
import { TableTools } from '../../statistics/tabletools.tsx'

interface Row {
  readonly name: string
  readonly n: number
}

/**
 * Returns a row for each choice: those on offer also before the first answer, and those that are not offered any more.
 */
const rowsOf = (options: readonly string[], { data: { choices } }: PollCounts): readonly Row[] => [
  ...choices.map(({ choice, count }) => ({ name: choice ?? t().history.erased, n: count })),
  ...options
    .filter((option) => option !== '' && !choices.some(({ choice }) => choice === option))
    .map((name) => ({ name, n: 0 })),
]

const Table = ({ rows, total }: { readonly rows: readonly Row[]; readonly total: number }) => {
  const { overlays: texts } = t()
  return (
    <table class="figures">
      <caption class="visually-hidden">{texts.result}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.visitor.fields.choice}</th>
          <th scope="col" class="num">
            {texts.answersTitle}
          </th>
          <th scope="col" class="num">
            %
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, n }) => (
          <tr key={name}>
            <th scope="row" dir="auto">
              {name}
            </th>
            <td class="num">{figure(n)}</td>
            <td class="num">{figure(share(n, total), 1)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The result of a poll: how often each answer was chosen, as bars and as a table. */
export const PollResult = ({ id, options }: { readonly id: number; readonly options: readonly string[] }) => {
  const [asTable, setAsTable] = useState(false)
  const counts = useLoad<PollCounts>(`/api/overlay/${id}/answers/counts`)
  const { overlays: texts } = t()
  const total = counts.data?.data.counted ?? 0
  const rows = counts.data ? rowsOf(options, counts.data) : []
  const save = () =>
    saveFile(
      `poll-${id}.csv`,
      csvOf(
        ['choice', 'answers'],
        rows.map(({ name, n }) => [name, n]),
      ),
    )
  // the list of answers says that there are none
  if (counts.data && total === 0) return null
  return (
    <Section
      title={texts.result}
      tools={<TableTools asTable={asTable} onToggle={() => setAsTable(!asTable)} onSave={save} />}
    >
      {counts.error && <Failed error={counts.error} reload={counts.reload} />}
      {!counts.data && !counts.error && <Skeleton rows={options.length} label={texts.result} />}
      {counts.data && (asTable ? <Table rows={rows} total={total} /> : <Breakdown rows={rows} total={total} />)}
      {counts.data && total < counts.data.data.answers && (
        <p class="hint">{fill(texts.newestCounted, { n: figure(total), of: figure(counts.data.data.answers) })}</p>
      )}
    </Section>
  )
}
