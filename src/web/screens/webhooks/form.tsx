import type { WebhookCreated, WebhookDetails } from '../../../http/webhooks/contract.ts'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { t } from '../../core/alltexts.ts'
import { say } from '../../core/toasts.ts'
import { Switch, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { everything, FilterFields } from './filters.tsx'

interface WebhookFormProps {
  readonly existing?: WebhookDetails
  readonly onDone: (made: WebhookCreated | undefined) => void
  readonly onClose: () => void
}

const others = (events: readonly string[]) => events.filter((one) => one !== '*' && one !== 'clicks')

/** Where a webhook sends to, and what. */
export const WebhookForm = ({ existing, onDone, onClose }: WebhookFormProps) => {
  const given = existing?.events ?? ['*']
  const form = useDraft({
    url: existing?.url ?? '',
    name: existing?.name ?? '',
    all: given.includes('*'),
    clicks: given.includes('clicks'),
    bots: existing !== undefined && existing.classes.length !== 1,
    types: others(given).join(', '),
    filter: existing ?? everything,
    tags: (existing?.tags ?? []).join(', '),
  })
  const { all, clicks } = form.draft
  const texts = t().webhooks
  const submit = async () => {
    const { url, name, bots, types, filter, tags } = form.draft
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
    } else onDone(await request<WebhookCreated>('POST', '/api/webhook/add', body))
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
        {...form.field('url')}
        required
        autofocus
        placeholder="https://"
        hint={texts.urlHint}
      />
      <TextField label={t().resources.name} {...form.field('name')} />
      <fieldset class="field">
        <legend>{texts.sends}</legend>
        <Switch label={texts.allChanges} {...form.field('all')} />
        <Switch label={texts.clicks} {...form.field('clicks')} />
        {clicks && <Switch label={texts.bots} {...form.field('bots')} />}
      </fieldset>
      {all ? (
        form.problem('events') !== undefined && <p class="message bad">{form.problem('events')}</p>
      ) : (
        <TextField
          label={texts.types}
          {...form.field('types')}
          placeholder="LinkCreated, LinkUpdated"
          hint={texts.typesHint}
          problem={form.problem('events')}
        />
      )}
      <FilterFields
        filter={form.draft.filter}
        onFilter={(filter) => form.set({ filter })}
        tags={form.draft.tags}
        onTags={(tags) => form.set({ tags })}
        form={form}
      />
    </FormDialog>
  )
}
