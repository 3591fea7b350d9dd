import type { CampaignList } from '../../../../http/links/contract/campaign.ts'
import type { ChannelList } from '../../../../http/links/contract/channel.ts'
import { useLoad } from '../../../core/load.ts'
import { problemOf } from '../../../core/form.ts'
import { t } from '../../../core/alltexts.ts'
import { counted, fill } from '../../../core/texts.ts'
import { IconButton } from '../../../parts/button.tsx'
import { PasswordField, Problem, SelectField, Switch } from '../../../parts/field.tsx'
import { type PlainText, texts as textsOf } from './draft.ts'
import { Fold, type FormProps, Plain } from './form.tsx'

/** Destinations that visitors are split between. */
export const SplitForm = (props: FormProps) => {
  const { draft, set, error } = props
  const texts = t().editor
  const { variants } = draft
  const problem = problemOf(error, 'variants')
  const add = () =>
    // two are the least: the destination that there is becomes the first
    set({
      variants: [...(variants.length === 0 ? [{ url: draft.url, weight: 1 }] : variants), { url: '', weight: 1 }],
    })
  const replace = (at: number, changes: object) =>
    set({ variants: variants.map((one, n) => (n === at ? { ...one, ...changes } : one)) })
  const remove = (at: number) => {
    const left = variants.filter((_, n) => n !== at)
    set({ variants: left.length < 2 ? [] : left })
  }
  return (
    <Fold
      {...props}
      group="split"
      title={texts.split}
      summary={variants.length === 0 ? texts.none : counted(texts.variants, variants.length)}
    >
      <p class="hint">{texts.splitHint}</p>
      <ol class="pairs">
        {variants.map(({ url, weight }, n) => (
          <li key={n}>
            <input
              class="input"
              aria-label={fill(texts.variant, { n: n + 1 })}
              value={url}
              placeholder="https://"
              required
              dir="auto"
              onInput={(event) => replace(n, { url: event.currentTarget.value })}
            />
            <input
              class="input"
              type="number"
              min={0}
              max={1000}
              aria-label={fill(texts.weightOf, { n: n + 1 })}
              value={weight}
              onInput={(event) => replace(n, { weight: event.currentTarget.valueAsNumber || 0 })}
            />
            <IconButton icon="close" label={fill(texts.removeVariant, { n: n + 1 })} onClick={() => remove(n)} />
          </li>
        ))}
      </ol>
      {problem !== undefined && <Problem>{problem}</Problem>}
      <div>
        <button class="text-button" type="button" onClick={add}>
          {texts.addVariant}
        </button>
      </div>
    </Fold>
  )
}

export const ScheduleForm = (props: FormProps) => {
  const { draft } = props
  const texts = t().editor
  const given = [draft.starts, draft.expiry].filter(Boolean).map((time) => time.replace('T', ' '))
  return (
    <Fold {...props} group="schedule" title={texts.schedule} summary={given.join(' – ') || texts.none}>
      <div class="two">
        <Plain {...props} name="starts" label={texts.starts} type="datetime-local" />
        <Plain {...props} name="expiry" label={texts.expiry} type="datetime-local" />
      </div>
      <div class="two">
        <Plain {...props} name="max_clicks" label={texts.maxClicks} type="number" />
        <Plain {...props} name="expired_url" label={texts.expiredUrl} />
      </div>
    </Fold>
  )
}

/** The texts of a part of the form; each has its label, and may have a hint. */
const TextFields = ({ group, ...props }: FormProps & { readonly group: keyof typeof textsOf }) => {
  const labels = t().editor
  const hints: Readonly<Partial<Record<PlainText, string>>> = { title: labels.titleHint, notes: labels.notesHint }
  return (
    <>
      {(Object.entries(textsOf[group]) as [PlainText, number][]).map(([name, rows]) => (
        <Plain
          key={name}
          {...props}
          name={name}
          label={labels[name]}
          hint={hints[name]}
          rows={rows > 1 ? rows : undefined}
        />
      ))}
    </>
  )
}

type Named = readonly { readonly id: number; readonly name: string }[]
const options = (rows: Named | undefined, value: string): readonly (readonly [string, string])[] => {
  const known = (rows ?? []).map(({ id, name }) => [String(id), name] as const)
  const missing = value !== '' && !known.some(([id]) => id === value) ? [[value, `#${value}`] as const] : []
  return [['', t().editor.none], ...known, ...missing]
}

export const OrganizeForm = (props: FormProps) => {
  const { draft, set, error } = props
  const texts = t().editor
  const campaigns = useLoad<CampaignList>('/api/campaigns?limit=1000').data?.data.campaigns
  const channels = useLoad<ChannelList>('/api/channels?limit=1000').data?.data.channels
  const campaign = campaigns?.find(({ id }) => String(id) === draft.campaign)?.name
  return (
    <Fold
      {...props}
      group="organize"
      title={texts.organize}
      summary={[campaign, draft.tags].filter(Boolean).join(', ') || texts.none}
    >
      <Plain {...props} name="tags" label={texts.tags} hint={texts.tagsHint} />
      <div class="two">
        <SelectField
          label={texts.campaign}
          value={draft.campaign}
          onValue={(value) => set({ campaign: value })}
          options={options(campaigns, draft.campaign)}
          problem={problemOf(error, 'campaign')}
        />
        <SelectField
          label={texts.channel}
          value={draft.channel}
          onValue={(value) => set({ channel: value })}
          options={options(channels, draft.channel)}
          problem={problemOf(error, 'channel')}
        />
      </div>
      <TextFields {...props} group="organize" />
    </Fold>
  )
}

export const PasswordForm = (props: FormProps) => {
  const { draft, set, error, hasPassword } = props
  const texts = t().editor
  const isSet = (hasPassword && !draft.removePassword) || draft.password !== ''
  return (
    <Fold {...props} group="password" title={texts.password} summary={isSet ? texts.passwordSet : texts.none}>
      <PasswordField
        label={texts.password}
        autocomplete="new-password"
        value={draft.password}
        onValue={(password) => set({ password, removePassword: false })}
        hint={hasPassword ? texts.passwordKept : texts.passwordHint}
        problem={problemOf(error, 'password')}
      />
      {hasPassword && (
        <Switch
          label={texts.removePassword}
          value={draft.removePassword}
          onValue={(removePassword) => set({ removePassword, password: '' })}
        />
      )}
    </Fold>
  )
}

export const PreviewForm = (props: FormProps) => {
  const texts = t().editor
  return (
    <Fold {...props} group="preview" title={texts.preview} summary={props.draft.metatitle || texts.fromDestination}>
      <TextFields {...props} group="preview" />
    </Fold>
  )
}
