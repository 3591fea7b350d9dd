import type { FormState } from '../../core/form.ts'
import { useLoad } from '../../core/load.ts'
import { t } from '../../core/alltexts.ts'
import { counted } from '../../core/texts.ts'
import { SelectField, TextField } from '../../parts/field.tsx'

/** What a webhook is about; an empty list: everything. */
export interface WebhookFilter {
  readonly campaigns: readonly number[]
  readonly channels: readonly number[]
  readonly domains: readonly number[]
  readonly tags: readonly string[]
}
export const everything: WebhookFilter = { campaigns: [], channels: [], domains: [], tags: [] }

interface One {
  readonly id: number
  readonly name?: string
  readonly domain?: string
}
type Lists = 'campaigns' | 'channels' | 'domains'

/** The value that stands for several ids, which only the API sets. */
const several = 'several'
const valueOf = (ids: readonly number[]) => (ids.length > 1 ? several : String(ids[0] ?? ''))

interface ChoiceProps {
  readonly list: Lists
  readonly ids: readonly number[]
  readonly onIds: (ids: readonly number[]) => void
  readonly form: FormState
}

/** One of the campaigns, channels or domains of the account, or any. */
const Choice = ({ list, ids, onIds, form }: ChoiceProps) => {
  const texts = t().webhooks
  const rows =
    useLoad<{ readonly data: Readonly<Record<string, readonly One[]>> }>(`/api/${list}?limit=1000`).data?.data[list] ??
    []
  const value = valueOf(ids)
  const known = rows.map(({ id, name, domain }) => [String(id), name ?? domain ?? `#${id}`] as const)
  const isMissing = value !== '' && value !== several && !known.some(([id]) => id === value)
  return (
    <SelectField
      label={texts.only[list]}
      value={value}
      onValue={(given) => given !== several && onIds(given === '' ? [] : [Number(given)])}
      options={[
        ['', texts.any],
        ...(value === several ? [[several, counted(texts.several, ids.length)] as const] : []),
        ...known,
        ...(isMissing ? [[value, `#${value}`] as const] : []),
      ]}
      problem={form.problem(list)}
    />
  )
}

interface FilterProps {
  readonly filter: WebhookFilter
  readonly onFilter: (filter: WebhookFilter) => void
  readonly tags: string
  readonly onTags: (tags: string) => void
  readonly form: FormState
}

/** What a webhook is only about. */
export const FilterFields = ({ filter, onFilter, tags, onTags, form }: FilterProps) => {
  const texts = t().webhooks
  const choice = (list: Lists) => (
    <Choice list={list} ids={filter[list]} onIds={(ids) => onFilter({ ...filter, [list]: ids })} form={form} />
  )
  return (
    <fieldset class="field">
      <legend>{texts.onlyAbout}</legend>
      {choice('campaigns')}
      {choice('channels')}
      {choice('domains')}
      <TextField
        label={texts.only.tags}
        value={tags}
        onValue={onTags}
        hint={texts.onlyHint}
        problem={form.problem('tags')}
      />
    </fieldset>
  )
}
