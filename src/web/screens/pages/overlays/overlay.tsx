import type { FoundOverlay } from '../../../../http/pages/contract/overlay.ts'
import { useState } from 'preact/hooks'
import type { FormState } from '../../../core/form.ts'
import { useLoad } from '../../../core/load.ts'
import { href, type ScreenProps } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { ColorField } from '../../../parts/color.tsx'
import { Editor, useEditor } from '../../../parts/editor.tsx'
import { Problem, SelectField, TextField } from '../../../parts/field.tsx'
import { NotFound, Section } from '../../../parts/section.tsx'
import { Sortable } from '../../../parts/sortable.tsx'
import { Failed, Skeleton } from '../../../parts/states.tsx'
import { Answers } from './answers.tsx'
import { PollResult } from './counts.tsx'
import { answersOf, blank, bodyOf, type Draft, draftOf, fields, fieldsOf, positions, types } from './draft.ts'
import { Preview } from './preview.tsx'

interface FieldsProps {
  readonly draft: Draft
  readonly set: (changes: Partial<Draft>) => void
  readonly form: FormState
}

/** most answers to choose from */
const mostOptions = 10

/** The answers of a poll, in their order. */
const Options = ({ draft: { options }, set, form }: FieldsProps) => {
  const texts = t().overlays
  // rows have no id of their own: each keeps the one that it gets here while it is moved
  const [keys, setKeys] = useState<readonly number[]>(options.map((_, n) => n))
  const rows = options.map((text, n) => ({ text, key: keys[n] ?? n }))
  const put = (next: readonly { readonly text: string; readonly key: number }[]) => {
    setKeys(next.map(({ key }) => key))
    set({ options: next.map(({ text }) => text) })
  }
  return (
    <fieldset class="field">
      <legend>{texts.options}</legend>
      <Sortable
        items={rows}
        keyOf={({ key }) => key}
        nameOf={({ text }, n) => text || fill(texts.option, { n: n + 1 })}
        onOrder={put}
        onRemove={(at) => put(rows.filter((_, n) => n !== at))}
        row={({ text }, n) => (
          <input
            class="input"
            aria-label={fill(texts.option, { n: n + 1 })}
            maxLength={255}
            dir="auto"
            value={text}
            onInput={(event) =>
              put(rows.map((one, at) => (at === n ? { ...one, text: event.currentTarget.value } : one)))
            }
          />
        )}
      />
      {form.problem('options') !== undefined && <Problem>{form.problem('options')}</Problem>}
      {options.length < mostOptions && (
        <div>
          <button
            class="text-button"
            type="button"
            onClick={() => put([...rows, { text: '', key: Math.max(-1, ...keys) + 1 }])}
          >
            {texts.addOption}
          </button>
        </div>
      )}
    </fieldset>
  )
}

const Content = (props: FieldsProps) => {
  const { draft, set, form } = props
  const { overlays: texts, editors } = t()
  const placeholders: Readonly<Partial<Record<keyof Draft, string>>> = {
    label: texts.visitor.actions[draft.type],
    link: 'https://',
    image: 'https://',
  }
  return (
    <>
      {fieldsOf[draft.type].map((name) =>
        name === 'options' ? (
          <Options key={name} {...props} />
        ) : (
          <TextField
            key={name}
            label={texts.fields[name as keyof typeof texts.fields]}
            value={String(draft[name])}
            onValue={(value) => set({ [name]: value })}
            placeholder={placeholders[name]}
            problem={form.problem(name)}
            {...(name === 'message' && { rows: 3 })}
            {...(name === 'image' && { hint: editors.pictureHint })}
          />
        ),
      )}
    </>
  )
}

const Form = ({ id, initial }: { readonly id: number | undefined; readonly initial: Draft }) => {
  const form = useEditor({ kind: 'overlay', id, initial, bodyOf, screens: '/overlays' })
  const { draft, set, stored, field, editor } = form
  const { overlays: texts, resources, editors } = t()
  return (
    <>
      <Editor
        title={id === undefined ? texts.create : stored.name}
        text={id === undefined ? texts.newText : texts.use}
        {...editor}
        fields={fields}
        preview={<Preview draft={draft} />}
      >
        <Section title={editors.content}>
          <div class="fields wide-fields">
            <SelectField
              label={texts.type}
              value={draft.type}
              onValue={(type) => set({ type: type as Draft['type'] })}
              options={types.map((type) => [type, texts.types[type]] as const)}
              hint={texts.typeHints[draft.type]}
              problem={form.problem('type')}
            />
            <TextField label={texts.name} {...field('name')} required hint={texts.nameHint} />
            <Content draft={draft} set={set} form={form} />
          </div>
        </Section>
        <Section title={editors.look}>
          <div class="two">
            <ColorField label={resources.color} {...field('color')} />
            <SelectField
              label={texts.position}
              value={draft.position}
              onValue={(position) => set({ position: position as Draft['position'] })}
              options={positions.map((one) => [one, texts.positions[one]] as const)}
              hint={texts.positionHint}
              problem={form.problem('position')}
            />
          </div>
        </Section>
      </Editor>
      {id !== undefined && stored.type === 'poll' && <PollResult id={id} options={stored.options} />}
      {id !== undefined && answersOf[stored.type] && <Answers id={id} type={stored.type} />}
    </>
  )
}

const Existing = ({ id }: { readonly id: number }) => {
  const found = useLoad<FoundOverlay>(`/api/overlay/${id}`)
  const { overlays: texts, link } = t()
  if (found.error?.status === 404)
    return <NotFound title={texts.notFound} text={link.notFoundText} href={href('/overlays')} name={texts.title} />
  if (found.data) return <Form id={id} initial={draftOf(found.data.details)} />
  return found.error ? <Failed error={found.error} reload={found.reload} /> : <Skeleton rows={10} label={texts.one} />
}

/** An overlay: its fields, what visitors see, and what they answered. */
export const OverlayScreen = ({ params }: ScreenProps) => {
  const { id } = params
  return id === undefined ? <Form id={undefined} initial={blank} /> : <Existing id={Number(id)} />
}
