import type { DomainDetails } from '../../../http/domains/contract.ts'
import { useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { say } from '../../core/toasts.ts'
import { Button, Writable } from '../../parts/button.tsx'
import { Problem, TextField } from '../../parts/field.tsx'
import { Section } from '../../parts/section.tsx'

/** Where the domain leads without a link. */
export const Redirects = ({ domain: { id, redirectroot, redirect404 } }: { readonly domain: DomainDetails }) => {
  const [root, setRoot] = useState(redirectroot)
  const [missing, setMissing] = useState(redirect404)
  const form = useForm()
  const texts = t().domains
  const save = () =>
    form.run(async () => {
      await request('PUT', `/api/domain/${id}/update`, { redirectroot: root, redirect404: missing })
      say(t().resources.stored)
    })
  return (
    <Section title={texts.redirects}>
      <form
        class="fields"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Writable>
          <TextField
            label={texts.root}
            value={root}
            onValue={setRoot}
            placeholder="https://"
            hint={texts.rootHint}
            problem={form.problem('redirectroot')}
          />
          <TextField
            label={texts.notFoundGoesTo}
            value={missing}
            onValue={setMissing}
            placeholder="https://"
            hint={texts.notFoundHint}
            problem={form.problem('redirect404')}
          />
        </Writable>
        {form.problem() !== undefined && <Problem>{form.problem()}</Problem>}
        <div>
          <Button type="submit" busy={form.busy}>
            {t().actions.save}
          </Button>
        </div>
      </form>
    </Section>
  )
}
