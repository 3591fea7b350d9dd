import type { Passkey, PasskeyList } from '../../../http/accounts/contract/passkey.ts'
import { useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { ApiError, request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { makePasskey } from '../../core/passkey.ts'
import { fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { PasswordField, TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { Section } from '../../parts/section.tsx'
import { filled, When } from '../../parts/when.tsx'

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
  const [password, setPassword] = useState<string | undefined>(undefined)
  const [code, setCode] = useState<string | undefined>(undefined)
  const form = useForm()
  const texts = t().account
  const make = async () => {
    try {
      return await makePasskey({ current_password: password, code })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      // that something is needed is no mistake; that it is wrong is one
      if (error.field === 'current_password' && password === undefined) setPassword('')
      else if (error.body['second_factor'] === true && code === undefined) setCode('')
      else throw error
      return undefined
    }
  }
  const submit = async () => {
    const passkey = await make()
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
      fields={['name', 'current_password', 'code']}
      onSubmit={submit}
      onClose={onClose}
    >
      <NameField name={name} onName={setName} problem={form.problem('name')} />
      {password !== undefined && (
        <PasswordField
          label={texts.currentPassword}
          autocomplete="current-password"
          required
          autofocus
          value={password}
          onValue={setPassword}
          problem={form.problem('current_password')}
        />
      )}
      {code !== undefined && (
        <TextField
          label={texts.codeNow}
          name="code"
          autocomplete="one-time-code"
          required
          autofocus
          value={code}
          onValue={setCode}
          problem={form.problem('code')}
        />
      )}
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
