import { useState } from 'preact/hooks'
import { request } from '../../../core/api.ts'
import { type FormState, useForm } from '../../../core/form.ts'
import { useLoad } from '../../../core/load.ts'
import { remove } from '../../../core/removal.ts'
import { go, href, type ScreenProps } from '../../../core/router.ts'
import { t } from '../../../core/alltexts.ts'
import { fill } from '../../../core/texts.ts'
import { say } from '../../../core/toasts.ts'
import { ColorField } from '../../../parts/color.tsx'
import { Editor } from '../../../parts/editor.tsx'
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
  const [draft, setDraft] = useState(initial)
  const [stored, setStored] = useState(initial)
  const form = useForm()
  const { overlays: texts, resources, editors } = t()
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const save = async () => {
    const body = bodyOf(draft)
    if (id !== undefined) await request('PUT', `/api/overlay/${id}/update`, body)
    const made = id ?? (await request<{ readonly id: number }>('POST', '/api/overlay/add', body)).id
    setStored(draft)
    say(resources.stored)
    if (id === undefined) go(href(`/overlays/${made}`), { replace: true })
  }
  const leave = () => {
    go(href('/overlays'))
    return () => {}
  }
  return (
    <>
      <Editor
        title={id === undefined ? texts.create : stored.name}
        text={id === undefined ? texts.newText : texts.use}
        form={form}
        fields={fields}
        changed={JSON.stringify(draft) !== JSON.stringify(stored)}
        onSave={save}
        of={id === undefined ? undefined : { kind: 'overlay', id }}
        onDelete={id === undefined ? undefined : () => void remove('/api/overlay', { id, name: stored.name }, leave)}
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
            <TextField
              label={texts.name}
              value={draft.name}
              onValue={(name) => set({ name })}
              required
              hint={texts.nameHint}
              problem={form.problem('name')}
            />
            <Content draft={draft} set={set} form={form} />
          </div>
        </Section>
        <Section title={editors.look}>
          <div class="two">
            <ColorField
              label={resources.color}
              value={draft.color}
              onValue={(color) => set({ color })}
              problem={form.problem('color')}
            />
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
  const found = useLoad<{ readonly details: Draft }>(`/api/overlay/${id}`)
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
