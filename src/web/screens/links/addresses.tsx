import { useState } from 'preact/hooks'
import type { AddressRemoved, LinkAddress } from '../../../http/links/contract/addresses.ts'
import type { LinkDetails } from '../../../http/links/contract/link.ts'
import { withoutScheme } from '../../core/address.ts'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { service } from '../../core/session.ts'
import { counted, fill } from '../../core/texts.ts'
import { attempt, say } from '../../core/toasts.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { Section } from '../../parts/section.tsx'
import { AliasField } from './editor/alias.tsx'
import { blank, type Draft } from './editor/draft.ts'

interface OfLink {
  readonly details: LinkDetails
  /** Called when the addresses have changed. */
  readonly onChange: () => void
}

/** The domain of an address as requests name it; empty: that of the service. */
const domainOf = ({ domain }: LinkAddress) => (domain === service.baseUrl ? '' : domain)

const AddDialog = ({ details: { id }, onChange, onClose }: OfLink & { readonly onClose: () => void }) => {
  const [draft, setDraft] = useState<Draft>(blank)
  const form = useForm()
  const submit = async () => {
    const { custom, domain } = draft
    const { shorturl } = await request<{ readonly shorturl: string }>('POST', `/api/url/${id}/addresses`, {
      custom,
      domain,
    })
    say(fill(t().link.addressAdded, { name: withoutScheme(shorturl) }))
    onChange()
    onClose()
  }
  return (
    <FormDialog
      title={t().link.addAddress}
      action={t().link.addAddress}
      form={form}
      fields={['custom', 'domain']}
      onSubmit={submit}
      onClose={onClose}
    >
      <AliasField
        draft={draft}
        set={(changes) => setDraft((before) => ({ ...before, ...changes }))}
        error={form.error}
        hasPassword={false}
        own={undefined}
      />
    </FormDialog>
  )
}

const Row = ({ address, details, onChange }: OfLink & { readonly address: LinkAddress }) => {
  const { id, shorturl, main, clicks, alias } = address
  const texts = t().link
  const name = withoutScheme(shorturl)
  const change = (send: () => Promise<unknown>, done: string, undo?: () => Promise<unknown>) =>
    void attempt({
      apply: () => () => {},
      send: async () => {
        await send()
        onChange()
      },
      done,
      what: name,
      undo,
    })
  const makeMain = () =>
    change(
      () =>
        request('POST', `/api/url/${details.id}/addresses`, { custom: alias, domain: domainOf(address), main: true }),
      fill(texts.addressMain, { name }),
    )
  const remove = () => {
    // what others have changed since the page was loaded stays
    let undo: AddressRemoved['undo'] | undefined
    change(
      async () => {
        ;({ undo } = await request<AddressRemoved>('DELETE', `/api/url/${details.id}/address/${id}/delete`))
      },
      fill(texts.addressRemoved, { name }),
      async () => {
        if (undo) await request(undo.method, undo.path, undo.body)
        onChange()
      },
    )
  }
  return (
    <tr>
      <th scope="row">
        <span dir="ltr">{name}</span> <CopyButton text={shorturl} label={fill(t().actions.copy, { what: name })} />
        <br />
        <span class="quiet small">
          {main && `${texts.mainAddress} · `}
          {counted(texts.addressClicks, clicks)}
        </span>
      </th>
      <td class="num">
        {!main && (
          <span class="chips">
            <Button writes onClick={makeMain}>
              {texts.makeMain}
            </Button>
            <Button writes onClick={remove}>
              {texts.removeAddress}
            </Button>
          </span>
        )}
      </td>
    </tr>
  )
}

/** Where a link can be found, and how many visitors have come in by each address. */
export const Addresses = (of: OfLink) => {
  const [isAdding, setIsAdding] = useState(false)
  const texts = t().link
  const { addresses } = of.details
  return (
    <Section
      title={texts.addresses}
      tools={
        <Button writes onClick={() => setIsAdding(true)}>
          {texts.addAddress}
        </Button>
      }
    >
      <table class="figures">
        <caption class="visually-hidden">{texts.addresses}</caption>
        <tbody>
          {addresses.map((address) => (
            <Row key={address.id} address={address} {...of} />
          ))}
        </tbody>
      </table>
      {isAdding && <AddDialog {...of} onClose={() => setIsAdding(false)} />}
    </Section>
  )
}
