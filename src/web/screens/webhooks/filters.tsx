import type { DomainList } from '../../../http/domains/contract.ts'
import type { CampaignList } from '../../../http/links/contract/campaign.ts'
import type { ChannelList } from '../../../http/links/contract/channel.ts'
import type { WebhookDetails } from '../../../http/webhooks/contract.ts'
import type { FormState } from '../../core/form.ts'
import { useLoad } from '../../core/load.ts'
import { t } from '../../core/alltexts.ts'
import { counted } from '../../core/texts.ts'
import { SelectField, TextField } from '../../parts/field.tsx'

/** What a webhook is about; an empty list: everything. */
export type WebhookFilter = Pick<WebhookDetails, 'campaigns' | 'channels' | 'domains' | 'tags'>
export const everything: WebhookFilter = { campaigns: [], channels: [], domains: [], tags: [] }

type Lists = 'campaigns' | 'channels' | 'domains'
/** The answer is one of these lists. */
interface Answer {
  readonly data: Partial<CampaignList['data'] & ChannelList['data'] & DomainList['data']>
}

/** The value of the control for several ids, which only the API can set. */
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
  const rows = useLoad<Answer>(`/api/${list}?limit=1000`).data?.data[list] ?? []
  const value = valueOf(ids)
  const known = rows.map((row) => [String(row.id), 'name' in row ? row.name : row.domain] as const)
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
