import type { OverlayAnswer, OverlayAnswerList } from '../../../../http/pages/contract/overlay.ts'
import { useState } from 'preact/hooks'
import { saveList } from '../../../core/readall.ts'
import { t } from '../../../core/alltexts.ts'
import { counted } from '../../../core/texts.ts'
import { moment, momentOf } from '../../../core/time.ts'
import { Button } from '../../../parts/button.tsx'
import { Erased } from '../../../parts/erased.tsx'
import { Listing, listQuery, useList } from '../../../parts/listing.tsx'
import { Section } from '../../../parts/section.tsx'
import { answersOf, type OverlayType } from './draft.ts'

/** A field that was not filled in; all of them are missing once the answer was erased. */
const Missing = ({ fields }: Pick<OverlayAnswer, 'fields'>) =>
  Object.keys(fields).length === 0 ? <Erased /> : <span class="quiet">–</span>

/** What visitors sent through an overlay. It is text of strangers, shown as such. */
export const Answers = ({ id, type }: { readonly id: number; readonly type: OverlayType }) => {
  const path = `/api/overlay/${id}/answers`
  const { list, rows } = useList<OverlayAnswerList>(path, 'answers')
  const [saving, setSaving] = useState(false)
  const { overlays: texts, links } = t()
  const names = answersOf[type] ?? []
  const save = () => {
    setSaving(true)
    void saveList<OverlayAnswerList>({
      path,
      name: 'answers',
      query: listQuery(),
      file: `answers-${id}.csv`,
      columns: ['date', ...names],
      cells: ({ date, fields }) => [date, ...names.map((name) => fields[name] ?? '')],
    }).finally(() => setSaving(false))
  }
  return (
    <Section
      title={list.data ? counted(texts.answers, list.data.data.result) : texts.answersTitle}
      tools={
        rows.length > 0 && (
          <Button busy={saving} onClick={save}>
            {links.csv}
          </Button>
        )
      }
    >
      <Listing
        title={texts.answersTitle}
        list={list}
        rows={rows}
        keyOf={(row) => row.id}
        searchFor={texts.searchAnswers}
        none={{ title: texts.noAnswers, text: texts.noAnswersText }}
        columns={[
          { name: texts.when, cell: ({ date }) => <span class="when">{momentOf(moment(date))}</span> },
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
      />
    </Section>
  )
}
