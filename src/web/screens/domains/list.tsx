import type { DomainDetails, DomainList } from '../../../http/domains/contract.ts'
import { withoutScheme } from '../../core/address.ts'
import { useDraft } from '../../core/draft.ts'
import { href } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { fill } from '../../core/texts.ts'
import { Switch, TextField } from '../../parts/field.tsx'
import { Named } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { OwnedList } from '../../parts/ownedlist.tsx'
import { ResourceForm } from '../../parts/resourceform.tsx'

const marks = { active: 'good', pending: 'wait', unverified: 'bad' } as const

/** Says whether a domain serves its links. */
export const DomainState = ({ status }: Pick<DomainDetails, 'status'>) => (
  <Mark kind={marks[status]}>{t().domains.states[status]}</Mark>
)

const AddDomain = ({ onClose }: { readonly onClose: () => void }) => {
  const form = useDraft({ domain: '', exact: false })
  const texts = t().domains
  const host = form.draft.domain.trim()
  return (
    <ResourceForm
      one="/api/domain"
      texts={texts}
      form={form}
      body={{
        domain: /^https?:\/\//i.test(host) ? host : `https://${host}`,
        ...(form.draft.exact && { aliases: 'exact' }),
      }}
      screens="/domains"
      onClose={onClose}
    >
      <TextField
        label={texts.host}
        {...form.field('domain')}
        placeholder="go.example.com"
        required
        autofocus
        hint={texts.hostHint}
      />
      <div class="field">
        <Switch label={texts.exact} value={form.draft.exact} onValue={(exact) => form.set({ exact })} />
        <p class="hint">{texts.exactHint}</p>
      </div>
    </ResourceForm>
  )
}

/** All branded domains, and whether they serve. */
export const Domains = () => {
  const texts = t().domains
  return (
    <OwnedList<DomainList>
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
