import type { WebhookDetails, WebhookReplayed, WebhookRotated } from '../../../http/webhooks/contract.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { t } from '../../core/alltexts.ts'
import { fill, figure } from '../../core/texts.ts'
import { say } from '../../core/toasts.ts'
import { SelectField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { OverlapField } from '../accounts/keyform.tsx'
import { momentIn, stamp } from '../../core/time.ts'

interface ActionProps {
  readonly webhook: WebhookDetails
  readonly onClose: () => void
}

/** Replaces the secret of a webhook. */
export const RotateSecret = ({
  webhook: { id },
  onMade,
  onClose,
}: ActionProps & { readonly onMade: (made: WebhookRotated) => void }) => {
  const [overlap, setOverlap] = useState('86400')
  const form = useForm()
  const texts = t().webhooks
  const submit = async () => {
    const body = { overlap: Number(overlap) }
    onMade(await request<WebhookRotated>('POST', `/api/webhook/${id}/rotate`, body))
  }
  return (
    <FormDialog title={texts.rotate} action={texts.rotate} form={form} fields={[]} onSubmit={submit} onClose={onClose}>
      <p>{texts.rotateText}</p>
      <OverlapField value={overlap} onValue={setOverlap} />
    </FormDialog>
  )
}

/** Continues a webhook at another event. */
export const Replay = ({ webhook: { id, next }, onClose }: ActionProps) => {
  const [place, setPlace] = useState<'time' | 'event' | 'now'>('time')
  const [time, setTime] = useState('')
  const [event, setEvent] = useState(String(next ?? 0))
  const [end, setEnd] = useState('')
  const form = useForm()
  const texts = t().webhooks
  const submit = async () => {
    const from = place === 'now' ? 'now' : place === 'event' ? Number(event) : stamp(momentIn(time))
    const until = place === 'now' || end === '' ? undefined : place === 'event' ? Number(end) : stamp(momentIn(end))
    const body = { from, ...(until === undefined ? {} : { until }) }
    const answer = await request<WebhookReplayed>('POST', `/api/webhook/${id}/replay`, body)
    const said = { n: figure(answer.from), last: figure(answer.until ?? 0) }
    say(fill(answer.until === undefined ? texts.replayed : texts.partReplayed, said))
    onClose()
  }
  return (
    <FormDialog
      title={texts.replay}
      action={texts.replay}
      form={form}
      fields={['from', 'until']}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{texts.replayText}</p>
      <SelectField
        label={texts.replayFrom}
        value={place}
        onValue={(value) => setPlace(value as 'time' | 'event' | 'now')}
        options={(['time', 'event', 'now'] as const).map((one) => [one, texts.places[one]] as const)}
        problem={place === 'now' ? form.problem('from') : undefined}
      />
      {place === 'time' && (
        <TextField
          label={texts.places.time}
          type="datetime-local"
          value={time}
          onValue={setTime}
          required
          problem={form.problem('from')}
        />
      )}
      {place === 'event' && (
        <TextField
          label={texts.places.event}
          value={event}
          onValue={setEvent}
          inputMode="numeric"
          required
          problem={form.problem('from')}
        />
      )}
      {place !== 'now' && (
        <TextField
          label={place === 'time' ? texts.untilTime : texts.untilEvent}
          type={place === 'time' ? 'datetime-local' : 'text'}
          value={end}
          onValue={setEnd}
          hint={texts.untilHint}
          problem={form.problem('until')}
        />
      )}
    </FormDialog>
  )
}
