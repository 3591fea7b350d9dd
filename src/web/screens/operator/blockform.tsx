import type { BlockChanged } from '../../../http/operator/contract.ts'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'

const kinds = ['link', 'host', 'pattern', 'domain'] as const

/** What is to be blocked, as the API takes it. */
export interface Draft {
  readonly kind: string
  readonly value: string
  readonly reason: string
  /** how a person calls it, where that is not the value */
  readonly called?: string
}
export const emptyDraft: Draft = { kind: 'link', value: '', reason: '' }

/** Ends a block and shows a message. `called`: the name of the blocked resource for people. */
export const unblock = ({ kind, value }: Pick<Draft, 'kind' | 'value'>, called: string): Promise<void> =>
  request('POST', '/api/operator/unblock', { kind, value }).then(
    () => say(fill(t().operator.isUnblocked, { what: called })),
    sayProblem,
  )

/** The form in which something is blocked. */
export const BlockForm = ({ draft, onClose }: { readonly draft: Draft; readonly onClose: () => void }) => {
  const { kind, value, reason } = draft
  const form = useDraft({ kind, value, reason })
  const { operator: texts, actions } = t()
  const submit = async () => {
    const done = await request<BlockChanged>('POST', '/api/operator/block', form.draft)
    const called = draft.called ?? done.value
    onClose()
    say(fill(texts.isBlocked, { what: called }), {
      action: { label: actions.undo, run: () => void unblock(done, called) },
    })
  }
  return (
    <FormDialog
      title={texts.blockTitle}
      action={texts.block}
      form={form}
      fields={Object.keys(form.draft)}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField
        label={texts.kind}
        {...form.field('kind')}
        options={kinds.map((one) => [one, texts.kinds[one]] as const)}
      />
      <TextField
        label={texts.value}
        {...form.field('value')}
        required
        autofocus
        hint={texts.hints[form.draft.kind as keyof typeof texts.hints]}
      />
      <TextField label={texts.reason} {...form.field('reason')} required max={500} rows={2} hint={texts.reasonHint} />
    </FormDialog>
  )
}
