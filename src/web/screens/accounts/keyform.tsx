import type { ApiKey, KeyCreated, KeyRotated } from '../../../http/accounts/contract/key.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { useForm } from '../../core/form.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { moment, momentText, stamp } from '../../core/time.ts'
import { say } from '../../core/toasts.ts'
import { Problem, SelectField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'

const scopes = ['read', 'stats:read', 'write', 'links:write', 'account', 'webhooks'] as const
/** A scope that is included in another one needs not be given. */
const widerThan: Readonly<Record<string, string | undefined>> = {
  'stats:read': 'read',
  'links:write': 'write',
  webhooks: 'account',
}
/** days until a key ends; 0: it does not */
const terms = ['30', '90', '365', '0'] as const
const day = 86_400_000

interface ScopesProps {
  readonly value: readonly string[]
  readonly onValue: (scopes: readonly string[]) => void
  readonly problem: string | undefined
}

const Scopes = ({ value: chosen, onValue, problem }: ScopesProps) => {
  const texts = t().keys
  return (
    <fieldset class="field">
      <legend>{texts.may}</legend>
      <ul class="scopes">
        {scopes.map((scope) => {
          const included = chosen.includes(widerThan[scope] ?? '')
          const [name, text] = texts.scopes[scope]
          return (
            <li key={scope} class={widerThan[scope] ? 'narrow' : ''}>
              <label>
                <input
                  class="check"
                  type="checkbox"
                  checked={included || chosen.includes(scope)}
                  disabled={included}
                  onChange={(event) =>
                    onValue(
                      event.currentTarget.checked ? [...chosen, scope] : chosen.filter((other) => other !== scope),
                    )
                  }
                />
                <span>
                  {name}
                  <span class="note">{text}</span>
                </span>
              </label>
            </li>
          )
        })}
      </ul>
      {problem !== undefined && <Problem>{problem}</Problem>}
    </fieldset>
  )
}

interface KeyFormProps {
  readonly existing?: ApiKey
  /** Gets the key that was made. */
  readonly onDone: (key: string | undefined) => void
  readonly onClose: () => void
}

const listOf = (text: string) => text.split(/[\s,]+/).filter((one) => one !== '')

/** What a key may do, from where, and until when. */
export const KeyForm = ({ existing, onDone, onClose }: KeyFormProps) => {
  const form = useDraft({
    name: existing?.name ?? '',
    scopes: existing?.scopes ?? ['read', 'write'],
    expires: existing ? 'keep' : '90',
    addresses: existing?.addresses.join('\n') ?? '',
  })
  const texts = t().keys
  const kept = existing && (existing.expires === '' ? texts.noEnd : momentText(moment(existing.expires), 'day'))
  const submit = async () => {
    const { expires: term, addresses, ...rest } = form.draft
    const expires = term === '0' ? '' : stamp(new Date(Date.now() + Number(term) * day))
    const body = { ...rest, addresses: listOf(addresses), ...(term === 'keep' ? {} : { expires }) }
    if (existing) {
      await request('PUT', `/api/key/${existing.id}/update`, body)
      say(t().resources.stored)
      onDone(undefined)
    } else onDone((await request<KeyCreated>('POST', '/api/key/add', body)).key)
  }
  return (
    <FormDialog
      title={existing ? texts.edit : texts.create}
      action={existing ? t().actions.save : texts.create}
      form={form}
      fields={Object.keys(form.draft)}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField label={t().resources.name} {...form.field('name')} required autofocus hint={texts.nameHint} />
      <Scopes {...form.field('scopes')} />
      <SelectField
        label={texts.expiry}
        {...form.field('expires')}
        options={[
          ...(kept === undefined ? [] : [['keep', fill(texts.keep, { when: kept })] as const]),
          ...terms.map((days) => [days, days === '0' ? texts.noEnd : fill(texts.days, { n: days })] as const),
        ]}
      />
      <TextField label={texts.addresses} {...form.field('addresses')} rows={2} hint={texts.addressesHint} />
    </FormDialog>
  )
}

/** Seconds that an old key or secret still works, to choose from. */
export const OverlapField = ({
  value,
  onValue,
}: {
  readonly value: string
  readonly onValue: (value: string) => void
}) => {
  const { overlap, overlaps } = t().keys
  return (
    <SelectField
      label={overlap}
      value={value}
      onValue={onValue}
      options={(['0', '3600', '86400', '604800', '2592000'] as const).map((one) => [one, overlaps[one]] as const)}
    />
  )
}

/** Replaces a key by a new one, with the same rights. */
export const RotateForm = ({ existing, onDone, onClose }: KeyFormProps & { readonly existing: ApiKey }) => {
  const [overlap, setOverlap] = useState('86400')
  const form = useForm()
  const texts = t().keys
  const submit = async () => {
    const body = { overlap: Number(overlap) }
    onDone((await request<KeyRotated>('POST', `/api/key/${existing.id}/rotate`, body)).key)
  }
  return (
    <FormDialog
      title={fill(texts.rotateNamed, { name: existing.name })}
      action={texts.rotate}
      form={form}
      fields={[]}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{texts.rotateText}</p>
      <OverlapField value={overlap} onValue={setOverlap} />
    </FormDialog>
  )
}
