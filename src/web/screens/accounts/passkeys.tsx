import type { Passkey, PasskeyList } from '../../../http/accounts/contract/passkey.ts'
import { useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { makePasskey } from '../../core/passkey.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { Section } from '../../parts/section.tsx'
import { filled, When } from '../../parts/when.tsx'
import { useProof } from './proven.tsx'

interface NameProps {
  readonly name: string
  readonly onName: (name: string) => void
  readonly problem: string | undefined
}
const NameField = ({ name, onName, problem }: NameProps) => (
  <TextField
    label={t().account.passkeyName}
    name="name"
    hint={t().account.passkeyNameHint}
    autofocus
    value={name}
    onValue={onName}
    problem={problem}
  />
)

/**
 * A passkey signs in for good, so a session that the password has opened is asked for it, and for a code where there is
 * a second factor. Another session is asked to confirm in a window of its own.
 */
const AddDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState('')
  const form = useForm()
  const { prove, inputs, fields } = useProof(form, { asksPassword: false })
  const texts = t().account
  const submit = async () => {
    const passkey = await prove(makePasskey)
    if (passkey === undefined) return
    await request('POST', '/api/passkey/add', { passkey, ...(name.trim() && { name }) })
    say(texts.passkeyDone)
    onClose()
  }
  return (
    <FormDialog
      title={texts.addPasskey}
      action={texts.confirmed}
      form={form}
      fields={['name', ...fields]}
      onSubmit={submit}
      onClose={onClose}
    >
      <NameField name={name} onName={setName} problem={form.problem('name')} />
      {inputs}
    </FormDialog>
  )
}

const RenameDialog = ({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) => {
  const [name, setName] = useState(passkey.name)
  const form = useForm()
  const submit = async () => {
    await request('PUT', `/api/passkey/${passkey.id}/update`, { name })
    say(fill(t().account.passkeyRenamed, { name }))
    onClose()
  }
  return (
    <FormDialog
      title={t().account.passkeyRename}
      action={t().actions.save}
      form={form}
      fields={['name']}
      onSubmit={submit}
      onClose={onClose}
    >
      <NameField name={name} onName={setName} problem={form.problem('name')} />
    </FormDialog>
  )
}

const Row = ({ passkey }: { readonly passkey: Passkey }) => {
  const [open, setOpen] = useState<'rename' | 'remove' | undefined>(undefined)
  const texts = t().account
  const { id, name, date, lastused, current } = passkey
  const close = () => setOpen(undefined)
  const remove = async () => {
    // another window may ask to confirm it
    close()
    await request('DELETE', `/api/passkey/${id}/delete`).then(
      () => say(fill(texts.identityRemoved, { name })),
      sayProblem,
    )
  }
  const used = lastused ? filled(texts.passkeyUsed, { when: <When at={moment(lastused)} /> }) : texts.passkeyUnused
  return (
    <tr>
      <th scope="row">
        <strong dir="auto">{name}</strong>
        <br />
        <span class="quiet small">{filled(texts.passkeyMade, { when: <When at={moment(date)} as="day" /> })}</span>
        <br />
        <span class="quiet small">{current ? texts.thisOne : used}</span>
      </th>
      <td class="num">
        <span class="chips">
          <Button writes onClick={() => setOpen('rename')}>
            {texts.passkeyRename}
          </Button>
          <Button writes onClick={() => setOpen('remove')}>
            {texts.removeIdentity}
          </Button>
        </span>
        {open === 'rename' && <RenameDialog passkey={passkey} onClose={close} />}
        {open === 'remove' && (
          <Confirm
            title={`${texts.removeIdentity}: ${name}`}
            text={fill(texts.passkeyRemoveText, { name })}
            action={texts.removeIdentity}
            onClose={close}
            onConfirm={remove}
          />
        )}
      </td>
    </tr>
  )
}

/** The passkeys that sign in to the account. */
export const Passkeys = ({ list }: { readonly list: PasskeyList['data'] }) => {
  const [isAdding, setIsAdding] = useState(false)
  const texts = t().account
  return (
    <Section title={texts.passkeys}>
      <p>{texts.passkeysText}</p>
      {list.passkeys.length > 0 && (
        <table class="figures">
          <caption class="visually-hidden">{texts.passkeys}</caption>
          <tbody>
            {list.passkeys.map((passkey) => (
              <Row key={passkey.id} passkey={passkey} />
            ))}
          </tbody>
        </table>
      )}
      <div>
        <Button writes onClick={() => setIsAdding(true)}>
          {texts.addPasskey}
        </Button>
      </div>
      {isAdding && <AddDialog onClose={() => setIsAdding(false)} />}
    </Section>
  )
}
