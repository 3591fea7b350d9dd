import type {
  DeliveryList,
  FoundWebhook,
  WebhookDetails,
  WebhookRotated,
  WebhookTested,
} from '../../../http/webhooks/contract.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { useLoad } from '../../core/load.ts'
import { go, href, type ScreenProps } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { fill, figure } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Problem } from '../../parts/field.tsx'
import { HistoryLink } from '../../parts/historylink.tsx'
import { Listing, Named, useList } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Secret } from '../../parts/secret.tsx'
import { Head, NotFound, Section } from '../../parts/section.tsx'
import { Failed, Notice, Skeleton } from '../../parts/states.tsx'
import { Replay, RotateSecret } from './actions.tsx'
import { WebhookForm } from './form.tsx'
import { sends, WebhookState } from './list.tsx'
import { When } from '../../parts/when.tsx'

type Tested = Pick<WebhookTested, 'delivered' | 'status' | 'ms' | 'problem'>

/** Returns what the receiver has answered, in a few words. */
const resultOf = ({ status, ms, problem }: Tested) => {
  const texts = t().webhooks
  const answered = status === 0 ? texts.noAnswer : fill(texts.answered, { status, ms: figure(ms) })
  return problem === '' ? answered : `${answered} ${problem}`
}

/** Attempts to deliver messages, the newest first. */
const Deliveries = ({ id }: { readonly id: number }) => {
  const { list, rows } = useList<DeliveryList>(`/api/webhook/${id}/deliveries`, 'deliveries')
  const texts = t().webhooks
  return (
    <Section
      title={texts.deliveries}
      tools={
        <button class="text-button small" type="button" onClick={list.reload}>
          {texts.refresh}
        </button>
      }
    >
      <Listing
        title={texts.deliveries}
        list={list}
        rows={rows}
        keyOf={(row) => row.id}
        searchFor={texts.searchDeliveries}
        none={{ title: texts.noDeliveries, text: texts.noDeliveriesText }}
        columns={[
          {
            name: texts.message,
            cell: (row) => <Named name={row.type} note={`${row.message} · ${resultOf(row)}`} />,
          },
          {
            name: t().resources.state,
            kind: 'state',
            cell: ({ delivered, try: n }) => (
              <Mark kind={delivered ? 'good' : 'bad'}>
                {delivered ? texts.delivered : fill(texts.notDelivered, { n: figure(n) })}
              </Mark>
            ),
          },
          { name: texts.when, kind: 'wide', cell: ({ date }) => <When at={moment(date)} /> },
        ]}
      />
    </Section>
  )
}

type Action = 'edit' | 'rotate' | 'replay' | 'delete'

interface AskedProps {
  readonly action: Action | undefined
  readonly webhook: WebhookDetails
  readonly onClose: () => void
}

/** The window of an action; after a new secret, the one that shows it. */
const Asked = ({ action, webhook, onClose }: AskedProps) => {
  const [made, setMade] = useState<Pick<WebhookRotated, 'secret'> | undefined>(undefined)
  const { webhooks: texts, resources, actions } = t()
  const { id, name, url } = webhook
  const remove = () =>
    request('DELETE', `/api/webhook/${id}/delete`).then(() => {
      say(fill(resources.deleted, { name: name || url }))
      go(href('/webhooks'))
    }, sayProblem)
  if (made)
    return (
      <Secret title={texts.secret} secret={made.secret} text={texts.secretText} onClose={() => setMade(undefined)} />
    )
  switch (action) {
    case 'edit':
      return <WebhookForm existing={webhook} onDone={onClose} onClose={onClose} />
    case 'replay':
      return <Replay webhook={webhook} onClose={onClose} />
    case 'rotate':
      return (
        <RotateSecret
          webhook={webhook}
          onClose={onClose}
          onMade={(done) => {
            onClose()
            setMade(done)
          }}
        />
      )
    case 'delete':
      return (
        <Confirm
          title={fill(texts.deleteTitle, { name: name || url })}
          text={texts.deleteText}
          action={actions.remove}
          onClose={onClose}
          onConfirm={remove}
        />
      )
    case undefined:
      return null
  }
}

const Facts = ({ webhook }: { readonly webhook: WebhookDetails }) => {
  const texts = t().webhooks
  const { url, next, status, reason } = webhook
  return (
    <>
      <dl class="facts-list">
        <dt>{texts.url}</dt>
        <dd class="mono">{url}</dd>
        <dt>{texts.sends}</dt>
        <dd>{sends(webhook)}</dd>
        <dt>{texts.next}</dt>
        <dd>{next === null ? '–' : figure(next)}</dd>
      </dl>
      {status === 'disabled' && reason !== 'owner' && (
        <Notice kind="warn">{reason === 'gone' ? texts.gone : texts.stopped}</Notice>
      )}
    </>
  )
}

/** A webhook's facts, and what can be done with it. */
const Settings = ({ webhook }: { readonly webhook: WebhookDetails }) => {
  const [action, setAction] = useState<Action | undefined>(undefined)
  const [tested, setTested] = useState<Tested | undefined>(undefined)
  const form = useForm()
  const { webhooks: texts, resources } = t()
  const { id, status } = webhook
  const test = () => form.run(async () => setTested(await request<WebhookTested>('POST', `/api/webhook/${id}/test`)))
  const switchTo = (enabled: boolean) => form.run(() => request('PUT', `/api/webhook/${id}/update`, { enabled }))
  return (
    <Section
      title={texts.settings}
      tools={
        <Button icon="edit" onClick={() => setAction('edit')}>
          {resources.edit}
        </Button>
      }
    >
      <div class="stack-4">
        <Facts webhook={webhook} />
        <div class="chips">
          <Button icon="send" busy={form.busy} onClick={() => void test()}>
            {texts.test}
          </Button>
          <Button writes onClick={() => void switchTo(status === 'disabled')}>
            {status === 'disabled' ? texts.enable : texts.disable}
          </Button>
          <Button writes onClick={() => setAction('replay')}>
            {texts.replay}
          </Button>
          <Button writes onClick={() => setAction('rotate')}>
            {texts.rotate}
          </Button>
          <Button kind="danger" onClick={() => setAction('delete')}>
            {resources.delete}
          </Button>
        </div>
        {form.error && <Problem>{form.error.message}</Problem>}
        {tested && (
          <Notice kind={tested.delivered ? 'good' : 'bad'} icon={tested.delivered ? 'check' : 'warning'}>
            <strong>{tested.delivered ? texts.testDelivered : texts.testFailed}</strong> {resultOf(tested)}
          </Notice>
        )}
      </div>
      <Asked action={action} webhook={webhook} onClose={() => setAction(undefined)} />
    </Section>
  )
}

/** One webhook: its events and address, a test, and the responses of the receiver. */
export const WebhookScreen = ({ params }: ScreenProps) => {
  const id = Number(params['id'])
  const found = useLoad<FoundWebhook>(`/api/webhook/${id}`)
  const { webhooks: texts, link } = t()
  if (found.error?.status === 404)
    return <NotFound title={texts.notFound} text={link.notFoundText} href={href('/webhooks')} name={texts.title} />
  if (!found.data)
    return found.error ? <Failed error={found.error} reload={found.reload} /> : <Skeleton rows={8} label={texts.one} />
  const { details } = found.data
  return (
    <>
      <Head title={details.name || texts.one} text={<WebhookState webhook={details} />}>
        <HistoryLink of="webhook" id={id} />
      </Head>
      <div class="stack">
        <Settings webhook={details} />
        <Deliveries id={id} />
      </div>
    </>
  )
}
