import { useEffect } from 'preact/hooks'
import type { BioPageDetails, FoundBioPage } from '../../../../http/pages/contract/bio.ts'
import { withoutScheme } from '../../../core/address.ts'
import { get } from '../../../core/api.ts'
import type { FormState } from '../../../core/form.ts'
import { useLoad } from '../../../core/load.ts'
import { href, type ScreenProps } from '../../../core/router.ts'
import { service, shortHost } from '../../../core/session.ts'
import { t } from '../../../core/alltexts.ts'
import { counted, fill } from '../../../core/texts.ts'
import { CopyButton } from '../../../parts/button.tsx'
import { ColorField } from '../../../parts/color.tsx'
import { Editor, useEditor } from '../../../parts/editor.tsx'
import { Problem, SelectField, TextField } from '../../../parts/field.tsx'
import { NotFound, Section } from '../../../parts/section.tsx'
import { Sortable } from '../../../parts/sortable.tsx'
import { Failed, Skeleton } from '../../../parts/states.tsx'
import { Totals } from '../../statistics/totals.tsx'
import { blank, bodyOf, type Draft, draftOf, type Entry, fields, themes, withEntry } from './draft.ts'
import { Preview } from './preview.tsx'

/** most entries of a page */
const mostEntries = 100

interface EntriesProps {
  readonly draft: Draft
  readonly set: (changes: Partial<Draft>) => void
  readonly form: FormState
  /** the entries that are stored, with their clicks */
  readonly stored: BioPageDetails['links']
}

/** The entries of a page, in their order. Each keeps its clicks wherever it goes. */
const Entries = ({ draft: { entries }, set, form, stored }: EntriesProps) => {
  const texts = t().bios
  const replace = (key: number, changes: Partial<Entry>) =>
    set({ entries: entries.map((one) => (one.key === key ? { ...one, ...changes } : one)) })
  const clicksOf = (id: number | undefined) => stored.find((one) => one.id === id)?.clicks
  const problem = form.problem('links')
  return (
    <Section title={texts.entries}>
      <div class="stack-4">
        <Sortable
          items={entries}
          keyOf={({ key }) => key}
          nameOf={({ title }, n) => title || fill(texts.entry, { n: n + 1 })}
          onOrder={(ordered) => set({ entries: ordered })}
          onRemove={(at) => set({ entries: entries.filter((_, n) => n !== at) })}
          row={({ key, id, title, url }, n) => (
            <div class="entry">
              <input
                class="input"
                aria-label={fill(texts.entryTitle, { n: n + 1 })}
                placeholder={texts.entryTitleText}
                maxLength={255}
                dir="auto"
                value={title}
                onInput={(event) => replace(key, { title: event.currentTarget.value })}
              />
              <input
                class="input"
                aria-label={fill(texts.entryUrl, { n: n + 1 })}
                placeholder="https://"
                inputMode="url"
                dir="auto"
                value={url}
                onInput={(event) => replace(key, { url: event.currentTarget.value })}
              />
              {clicksOf(id) !== undefined && (
                <span class="quiet small">{counted(texts.clicks, clicksOf(id) ?? 0)}</span>
              )}
            </div>
          )}
        />
        {problem !== undefined && <Problem>{problem}</Problem>}
        {entries.length < mostEntries && (
          <div>
            <button class="text-button" type="button" onClick={() => set({ entries: withEntry(entries) })}>
              {texts.addEntry}
            </button>
          </div>
        )}
      </div>
    </Section>
  )
}

/** What became of a page. */
const Counts = ({ data }: { readonly data: FoundBioPage['data'] }) => {
  const texts = t().bios
  const by = (visitors: number) => counted(texts.byVisitors, visitors)
  useEffect(() => void import('../../statistics/through.tsx').then(({ openVisits }) => openVisits()), [])
  return (
    <Totals
      totals={[
        { name: texts.views, n: data.views, note: by(data.uniqueViews), visits: { rule: 'view', period: 'all' } },
        { name: t().links.clicks, n: data.clicks, note: by(data.uniqueClicks), visits: { period: 'all' } },
        {
          name: texts.rate,
          n: data.views === 0 ? 0 : Math.round((100 * data.clicks) / data.views),
          note: texts.rateText,
        },
      ]}
    />
  )
}

const About = ({ draft, set, form }: Omit<EntriesProps, 'stored'>) => {
  const { bios: texts, editors, resources } = t()
  const field = (name: 'name' | 'alias' | 'title' | 'description' | 'avatar', label: string, more: object = {}) => (
    <TextField
      label={label}
      value={draft[name]}
      onValue={(value) => set({ [name]: value })}
      problem={form.problem(name)}
      {...more}
    />
  )
  return (
    <>
      <Section title={editors.content}>
        <div class="fields wide-fields">
          {field('name', resources.name, { hint: texts.nameHint })}
          {field('alias', texts.alias, {
            hint: fill(texts.aliasHint, { address: `${shortHost}/${draft.alias || '…'}` }),
          })}
          {field('title', editors.title)}
          {field('description', texts.description, { rows: 3 })}
        </div>
      </Section>
      <Section title={editors.look}>
        <div class="fields wide-fields">
          <div class="two">
            <SelectField
              label={texts.theme}
              value={draft.theme}
              onValue={(theme) => set({ theme: theme as Draft['theme'] })}
              options={themes.map((one) => [one, texts.themes[one]] as const)}
              problem={form.problem('theme')}
            />
            {draft.theme === 'color' && (
              <ColorField
                label={resources.color}
                value={draft.color}
                onValue={(color) => set({ color })}
                problem={form.problem('color')}
              />
            )}
          </div>
          {field('avatar', texts.avatar, { placeholder: 'https://', hint: editors.pictureHint })}
        </div>
      </Section>
    </>
  )
}

const Form = ({ answer }: { readonly answer: FoundBioPage | undefined }) => {
  const initial = answer ? draftOf(answer.details) : blank
  const id = answer?.details.id
  const form = useEditor({
    kind: 'bio',
    id,
    initial,
    bodyOf,
    screens: '/bio',
    // new entries have ids then: the next change of theirs must not make them new ones again
    read: async (stored) => draftOf((await get<FoundBioPage>(`/api/bio/${stored}`)).details),
  })
  const { draft, set, stored, editor } = form
  const texts = t().bios
  const address = `${service.baseUrl}/${stored.alias}`
  return (
    <>
      <Editor
        title={id === undefined ? texts.create : stored.name}
        text={
          id === undefined ? (
            texts.newText
          ) : (
            <span class="value">
              <a href={address} target="_blank" rel="noreferrer">
                {withoutScheme(address)}
              </a>
              <CopyButton text={address} label={fill(t().actions.copy, { what: address })} />
            </span>
          )
        }
        {...editor}
        fields={fields}
        preview={<Preview draft={draft} />}
      >
        {answer && <Counts data={answer.data} />}
        <Entries draft={draft} set={set} form={form} stored={answer?.details.links ?? []} />
        <About draft={draft} set={set} form={form} />
      </Editor>
    </>
  )
}

const Existing = ({ id }: { readonly id: number }) => {
  const found = useLoad<FoundBioPage>(`/api/bio/${id}`)
  const { bios: texts, link } = t()
  if (found.error?.status === 404)
    return <NotFound title={texts.notFound} text={link.notFoundText} href={href('/bio')} name={texts.title} />
  if (found.data) return <Form answer={found.data} />
  return found.error ? <Failed error={found.error} reload={found.reload} /> : <Skeleton rows={10} label={texts.one} />
}

/** A bio page: its entries in their order, its look, and what visitors see. */
export const BioScreen = ({ params }: ScreenProps) => {
  const { id } = params
  return id === undefined ? <Form answer={undefined} /> : <Existing id={Number(id)} />
}
