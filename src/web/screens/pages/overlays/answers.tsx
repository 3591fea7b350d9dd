import type { OverlayAnswer, OverlayAnswerList } from '../../../../http/pages/contract/overlay.ts'
import { useState } from 'preact/hooks'
import { request } from '../../../core/api.ts'
import { localCell } from '../../../core/csv.ts'
import { saveList } from '../../../core/readall.ts'
import { t } from '../../../core/alltexts.ts'
import { counted } from '../../../core/texts.ts'
import { moment } from '../../../core/time.ts'
import { say, sayProblem } from '../../../core/toasts.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/dialog.tsx'
import { Erased } from '../../../parts/erased.tsx'
import { Listing, listQuery, useList } from '../../../parts/listing.tsx'
import { Section } from '../../../parts/section.tsx'
import { answersOf, type OverlayType } from './draft.ts'
import { filled, When } from '../../../parts/when.tsx'

/** An erased answer has no fields. */
const isErased = ({ fields }: Pick<OverlayAnswer, 'fields'>) => Object.keys(fields).length === 0
/** A field that was not filled in. */
const Missing = ({ fields }: Pick<OverlayAnswer, 'fields'>) =>
  isErased({ fields }) ? <Erased /> : <span class="quiet">–</span>

interface EraseProps {
  readonly path: string
  readonly row: OverlayAnswer
  readonly onClose: () => void
}

/** Asks before what a visitor entered is destroyed. */
const Erase = ({ path, row: { id, date }, onClose }: EraseProps) => {
  const { overlays: texts } = t()
  return (
    <Confirm
      title={texts.eraseTitle}
      text={filled(texts.eraseText, { date: <When at={moment(date)} /> })}
      action={texts.erase}
      onClose={onClose}
      onConfirm={() => request('DELETE', `${path}/${id}/delete`).then(() => say(texts.isErased), sayProblem)}
    />
  )
}

interface SaveProps {
  readonly id: number
  readonly path: string
  readonly names: readonly string[]
}

/** Saves all answers as a file. */
const Save = ({ id, path, names }: SaveProps) => {
  const [saving, setSaving] = useState(false)
  const save = () => {
    setSaving(true)
    void saveList<OverlayAnswerList>({
      path,
      name: 'answers',
      query: listQuery(),
      file: `answers-${id}.csv`,
      columns: ['date', 'local', ...names],
      cells: ({ date, fields }) => [date, localCell(date), ...names.map((name) => fields[name] ?? '')],
    }).finally(() => setSaving(false))
  }
  return (
    <Button busy={saving} onClick={save}>
      {t().links.csv}
    </Button>
  )
}

/** What visitors sent through an overlay. It is text of strangers, shown as such. */
export const Answers = ({ id, type }: { readonly id: number; readonly type: OverlayType }) => {
  const path = `/api/overlay/${id}/answers`
  const { list, rows } = useList<OverlayAnswerList>(path, 'answers')
  const [asked, setAsked] = useState<OverlayAnswer | undefined>(undefined)
  const { overlays: texts } = t()
  const names = answersOf[type] ?? []
  return (
    <Section
      title={list.data ? counted(texts.answers, list.data.data.result) : texts.answersTitle}
      tools={rows.length > 0 && <Save id={id} path={path} names={names} />}
    >
      <Listing
        title={texts.answersTitle}
        list={list}
        rows={rows}
        keyOf={(row) => row.id}
        searchFor={texts.searchAnswers}
        none={{ title: texts.noAnswers, text: texts.noAnswersText }}
        columns={[
          { name: texts.when, cell: ({ date }) => <When at={moment(date)} /> },
          ...names.map((name) => ({
            name: texts.visitor.fields[name],
            cell: ({ fields }: OverlayAnswer) =>
              fields[name] === undefined ? (
                <Missing fields={fields} />
              ) : (
                <span class="answer" dir="auto">
                  {fields[name]}
                </span>
              ),
          })),
        ]}
        tools={(row) =>
          !isErased(row) && (
            <Button writes onClick={() => setAsked(row)}>
              {texts.erase}
            </Button>
          )
        }
      />
      {asked && <Erase path={path} row={asked} onClose={() => setAsked(undefined)} />}
    </Section>
  )
}
