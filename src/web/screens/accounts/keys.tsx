import type { ApiKey, ApiKeyList } from '../../../http/accounts/contract/key.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { HistoryLink } from '../../parts/historylink.tsx'
import { Listing, ListHead, Named, useList } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Secret } from '../../parts/secret.tsx'
import { KeyForm, RotateForm } from './keyform.tsx'
import { filled, When } from '../../parts/when.tsx'

/** Says until when a key works. */
const Expiry = ({ expires }: Pick<ApiKey, 'expires'>) => {
  const texts = t().keys
  if (expires === '') return <Mark kind="good">{texts.endless}</Mark>
  const end = moment(expires)
  const when = <When at={end} as="day" />
  return end <= new Date() ? (
    <Mark kind="ended">{filled(texts.ended, { when })}</Mark>
  ) : (
    <Mark kind="wait">{filled(texts.until, { when })}</Mark>
  )
}

const noteOf = ({ scopes, addresses }: ApiKey) => {
  const texts = t().keys
  const may = scopes.map((scope) => texts.scopes[scope as keyof typeof texts.scopes]?.[0] ?? scope).join(', ')
  return addresses.length > 0 ? `${may} · ${counted(texts.fromAddresses, addresses.length)}` : may
}

type Asked = { readonly what: 'edit' | 'rotate' | 'revoke'; readonly key: ApiKey } | { readonly what: 'create' }

/** All API keys. A key itself is shown when it is made, and never again. */
export const Keys = () => {
  const [asked, setAsked] = useState<Asked | undefined>(undefined)
  const [secret, setSecret] = useState<string | undefined>(undefined)
  const { list, rows } = useList<ApiKeyList>('/api/keys', 'keys')
  const { keys: texts, resources } = t()
  const close = () => setAsked(undefined)
  const made = (key: string | undefined) => {
    close()
    setSecret(key)
  }
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setAsked({ what: 'create' })}>
      {texts.create}
    </Button>
  )
  const revoke = ({ id, name }: ApiKey) =>
    request('DELETE', `/api/key/${id}/delete`).then(() => say(fill(texts.revoked, { name })), sayProblem)
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
            cell: (key) => <Named name={key.name} note={`${key.key} · ${noteOf(key)}`} />,
          },
          { name: texts.expiry, kind: 'state', cell: (key) => <Expiry {...key} /> },
          {
            name: texts.lastUsed,
            kind: 'wide',
            cell: ({ lastused }) => (lastused === '' ? texts.never : <When at={moment(lastused)} />),
          },
        ]}
        tools={(key) => (
          <>
            <HistoryLink of="key" id={key.id} name={key.name} />
            <IconButton
              icon="edit"
              label={fill(resources.editNamed, { name: key.name })}
              onClick={() => setAsked({ what: 'edit', key })}
            />
            <IconButton
              icon="turn"
              label={fill(texts.rotateNamed, { name: key.name })}
              onClick={() => setAsked({ what: 'rotate', key })}
            />
            <IconButton
              icon="trash"
              label={fill(texts.revokeNamed, { name: key.name })}
              onClick={() => setAsked({ what: 'revoke', key })}
            />
          </>
        )}
      />
      {asked?.what === 'create' && <KeyForm onDone={made} onClose={close} />}
      {asked?.what === 'edit' && <KeyForm existing={asked.key} onDone={made} onClose={close} />}
      {asked?.what === 'rotate' && <RotateForm existing={asked.key} onDone={made} onClose={close} />}
      {asked?.what === 'revoke' && (
        <Confirm
          title={fill(texts.revokeTitle, { name: asked.key.name })}
          text={texts.revokeText}
          action={texts.revoke}
          onClose={close}
          onConfirm={() => revoke(asked.key)}
        />
      )}
      {secret !== undefined && (
        <Secret title={texts.made} secret={secret} text={texts.madeText} onClose={() => setSecret(undefined)} />
      )}
    </>
  )
}
