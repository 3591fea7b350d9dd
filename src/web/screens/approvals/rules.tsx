import type { FoundRules } from '../../../http/approvals/contract.ts'
import type { DomainList } from '../../../http/domains/contract.ts'
import { withoutScheme } from '../../core/address.ts'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { useLoad } from '../../core/load.ts'
import { service } from '../../core/session.ts'
import { say } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Problem, Switch, TextField } from '../../parts/field.tsx'
import { Section } from '../../parts/section.tsx'
import { nameOfResource } from './list.tsx'

type Rules = FoundRules['data']

const Form = ({ rules }: { readonly rules: Rules }) => {
  const form = useDraft({ tags: rules.tags.join(', '), domains: rules.domains, live: rules.live })
  const own = useLoad<DomainList>('/api/domains?limit=1000').data?.data.domains
  const texts = t().approvals
  const { tags, domains, live } = form.draft
  const known = [{ id: 0, domain: service.baseUrl }, ...(own ?? [])]
  // the rules may name a domain that was deleted: it counts again once it is restored
  const deleted = rules.domains.filter((id) => own && !known.some((one) => one.id === id))
  const setDomain = (id: number, isOn: boolean) =>
    form.set({ domains: isOn ? [...domains, id] : domains.filter((one) => one !== id) })
  const save = () =>
    form.run(async () => {
      await request('PUT', '/api/account/approval', { tags: tags.split(','), domains, live })
      say(t().resources.stored)
    })
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <TextField label={texts.tags} {...form.field('tags')} hint={texts.tagsHint} />
      <fieldset class="field">
        <legend>{texts.domains}</legend>
        {[...known, ...deleted.map((id) => ({ id, domain: nameOfResource({ type: 'domain', id }) }))].map(
          ({ id, domain }) => (
            <Switch
              key={id}
              label={withoutScheme(domain)}
              value={domains.includes(id)}
              onValue={(isOn) => setDomain(id, isOn)}
            />
          ),
        )}
      </fieldset>
      <Switch label={texts.live} value={live} onValue={(isOn) => form.set({ live: isOn })} />
      {form.problem() !== undefined && <Problem>{form.problem()}</Problem>}
      <p>
        <Button type="submit" busy={form.busy}>
          {t().actions.save}
        </Button>
      </p>
    </form>
  )
}

/** Which changes need a second person. */
export const ApprovalRules = () => {
  const { data } = useLoad<FoundRules>('/api/account/approval', { ofNow: true })
  const texts = t().approvals
  return (
    <Section title={texts.second}>
      <p>{texts.secondText}</p>
      {data && <Form key={JSON.stringify(data.data)} rules={data.data} />}
    </Section>
  )
}
