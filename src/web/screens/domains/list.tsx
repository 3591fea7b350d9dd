import { useState } from 'preact/hooks'
import { withoutScheme } from '../../core/address.ts'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { go, href } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { TextField } from '../../parts/field.tsx'
import { FormDialog } from '../../parts/formdialog.tsx'
import { Named } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { OwnedList } from '../../parts/ownedlist.tsx'

/** What was expected of the DNS of a domain, and what was found; null: not looked up, or no answer. */
interface Found {
  readonly found: readonly string[] | null
  readonly ok: boolean | null
}
export interface Domain {
  readonly id: number
  readonly domain: string
  readonly redirectroot: string
  readonly redirect404: string
  readonly status: 'pending' | 'active' | 'unverified'
  /** missing where the service does not check domains */
  readonly verification?: {
    readonly record: Found & { readonly type: string; readonly name: string; readonly value: string }
    readonly dns?: Found & { readonly targets: readonly string[] }
    readonly checked: string | null
    readonly problem: string | null
  }
}

const marks = { active: 'good', pending: 'wait', unverified: 'bad' } as const

/** Says whether a domain serves its links. */
export const DomainState = ({ status }: Pick<Domain, 'status'>) => (
  <Mark kind={marks[status]}>{t().domains.states[status]}</Mark>
)

const AddDomain = ({ onClose }: { readonly onClose: () => void }) => {
  const [host, setHost] = useState('')
  const form = useForm()
  const texts = t().domains
  const submit = async () => {
    const domain = /^https?:\/\//i.test(host.trim()) ? host.trim() : `https://${host.trim()}`
    const { id } = await request<{ readonly id: number }>('POST', '/api/domain/add', { domain })
    go(href(`/domains/${id}`))
  }
  return (
    <FormDialog
      title={texts.create}
      action={texts.create}
      form={form}
      fields={['domain']}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={texts.host}
        value={host}
        onValue={setHost}
        placeholder="go.example.com"
        required
        autofocus
        hint={texts.hostHint}
        problem={form.problem('domain')}
      />
    </FormDialog>
  )
}

/** All branded domains, and whether they serve. */
export const Domains = () => {
  const texts = t().domains
  return (
    <OwnedList<Domain>
      path="/api/domains"
      field="domains"
      one="/api/domain"
      texts={texts}
      searchFor={texts.searchFor}
      nameOf={({ domain }) => withoutScheme(domain)}
      make={(onClose) => <AddDomain onClose={onClose} />}
      columns={[
        {
          name: texts.one,
          cell: ({ id, domain, redirectroot }) => (
            <Named
              name={withoutScheme(domain)}
              to={href(`/domains/${id}`)}
              note={redirectroot ? fill(texts.rootGoesTo, { to: withoutScheme(redirectroot) }) : texts.rootPlain}
            />
          ),
        },
        { name: t().resources.state, kind: 'state', cell: ({ status }) => <DomainState status={status} /> },
      ]}
    />
  )
}
