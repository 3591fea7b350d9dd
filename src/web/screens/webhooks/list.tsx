import type { WebhookCreated, WebhookDetails, WebhookList } from '../../../http/webhooks/contract.ts'
import { useState } from 'preact/hooks'
import { go, href } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { moment } from '../../core/time.ts'
import { Button } from '../../parts/button.tsx'
import { Listing, ListHead, Named, useList } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Secret } from '../../parts/secret.tsx'
import { filled, When } from '../../parts/when.tsx'
import { WebhookForm } from './form.tsx'

const marks = { active: 'good', failing: 'bad', disabled: 'off' } as const

/** Says whether a webhook sends. */
export const WebhookState = ({ webhook: { status, failing } }: { readonly webhook: WebhookDetails }) => (
  <Mark kind={marks[status]}>
    {status === 'failing' && failing !== ''
      ? filled(t().webhooks.failingSince, { when: <When at={moment(failing)} /> })
      : t().webhooks.states[status]}
  </Mark>
)

/** Returns what a webhook sends, in words. */
export const sends = ({ events }: Pick<WebhookDetails, 'events'>): string => {
  const texts = t().webhooks
  return events.map((one) => (one === '*' ? texts.allChanges : one === 'clicks' ? texts.clicks : one)).join(', ')
}

/** All webhooks: other programs that receive events. */
export const Webhooks = () => {
  const [isAdding, setIsAdding] = useState(false)
  const [made, setMade] = useState<WebhookCreated | undefined>(undefined)
  const { list, rows } = useList<WebhookList>('/api/webhooks', 'webhooks')
  const { webhooks: texts, resources } = t()
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setIsAdding(true)}>
      {texts.create}
    </Button>
  )
  return (
    <>
      <ListHead title={texts.title} text={texts.text} count={texts.count} list={list}>
        {create}
      </ListHead>
      <Listing
        title={texts.title}
        list={list}
        rows={rows}
        keyOf={({ id }) => id}
        searchFor={resources.searchFor}
        none={{ title: texts.none, text: texts.noneText, action: create }}
        columns={[
          {
            name: resources.name,
            cell: (row) => <Named name={row.name || row.url} to={href(`/webhooks/${row.id}`)} note={row.url} />,
          },
          { name: resources.state, kind: 'state', cell: (row) => <WebhookState webhook={row} /> },
          { name: texts.sends, kind: 'wide', cell: (row) => <span class="cut block">{sends(row)}</span> },
        ]}
      />
      {isAdding && (
        <WebhookForm
          onDone={(done) => {
            setIsAdding(false)
            setMade(done)
          }}
          onClose={() => setIsAdding(false)}
        />
      )}
      {made && (
        <Secret
          title={texts.secret}
          secret={made.secret}
          text={texts.secretText}
          onClose={() => go(href(`/webhooks/${made.id}`))}
        />
      )}
    </>
  )
}
