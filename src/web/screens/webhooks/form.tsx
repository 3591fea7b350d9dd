import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { t } from '../../core/alltexts.ts'
import { say } from '../../core/toasts.ts'
import { Switch, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { everything, FilterFields, type WebhookFilter } from './filters.tsx'

export interface Webhook extends WebhookFilter {
  readonly id: number
  readonly name: string
  readonly url: string
  readonly events: readonly string[]
  readonly classes: readonly string[]
  readonly status: 'active' | 'failing' | 'disabled'
  readonly reason: string
  readonly failing: string
  readonly retry: string
  readonly next: number | null
}
/** A webhook that was made: its secret is shown once. */
export interface Made {
  readonly id: number
  readonly secret: string
}

interface WebhookFormProps {
  readonly existing?: Webhook
  readonly onDone: (made: Made | undefined) => void
  readonly onClose: () => void
}

const others = (events: readonly string[]) => events.filter((one) => one !== '*' && one !== 'clicks')

/** Where a webhook sends to, and what. */
export const WebhookForm = ({ existing, onDone, onClose }: WebhookFormProps) => {
  const given = existing?.events ?? ['*']
  const [name, setName] = useState(existing?.name ?? '')
  const [url, setUrl] = useState(existing?.url ?? '')
  const [all, setAll] = useState(given.includes('*'))
  const [clicks, setClicks] = useState(given.includes('clicks'))
  const [bots, setBots] = useState(existing !== undefined && existing.classes.length !== 1)
  const [types, setTypes] = useState(others(given).join(', '))
  const [filter, setFilter] = useState<WebhookFilter>(existing ?? everything)
  const [tags, setTags] = useState((existing?.tags ?? []).join(', '))
  const form = useForm()
  const texts = t().webhooks
  const submit = async () => {
    const named = types.split(/[\s,]+/).filter((one) => one !== '')
    const body = {
      name,
      url,
      events: [...(all ? ['*'] : named), ...(clicks ? ['clicks'] : [])],
      classes: bots ? [] : ['human'],
      campaigns: filter.campaigns,
      channels: filter.channels,
      domains: filter.domains,
      tags: tags.split(',').filter((tag) => tag.trim() !== ''),
    }
    if (existing) {
      await request('PUT', `/api/webhook/${existing.id}/update`, body)
      say(t().resources.stored)
      onDone(undefined)
    } else onDone(await request<Made>('POST', '/api/webhook/add', body))
  }
  return (
    <FormDialog
      title={existing ? texts.edit : texts.create}
      action={existing ? t().actions.save : texts.create}
      form={form}
      fields={['name', 'url', 'events', 'campaigns', 'channels', 'domains', 'tags']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={texts.url}
        value={url}
        onValue={setUrl}
        required
        autofocus
        placeholder="https://"
        hint={texts.urlHint}
        problem={form.problem('url')}
      />
      <TextField label={t().resources.name} value={name} onValue={setName} problem={form.problem('name')} />
      <fieldset class="field">
        <legend>{texts.sends}</legend>
        <Switch label={texts.allChanges} checked={all} onValue={setAll} />
        <Switch label={texts.clicks} checked={clicks} onValue={setClicks} />
        {clicks && <Switch label={texts.bots} checked={bots} onValue={setBots} />}
      </fieldset>
      {all ? (
        form.problem('events') !== undefined && <p class="message bad">{form.problem('events')}</p>
      ) : (
        <TextField
          label={texts.types}
          value={types}
          onValue={setTypes}
          placeholder="LinkCreated, LinkUpdated"
          hint={texts.typesHint}
          problem={form.problem('events')}
        />
      )}
      <FilterFields filter={filter} onFilter={setFilter} tags={tags} onTags={setTags} form={form} />
    </FormDialog>
  )
}
