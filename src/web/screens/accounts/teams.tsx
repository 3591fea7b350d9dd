import { t } from '../../core/alltexts.ts'
import { baseOf } from '../../core/acting.ts'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { Button } from '../../parts/button.tsx'
import { Problem, TextField } from '../../parts/field.tsx'
import { Section } from '../../parts/section.tsx'

/** Adds a team account, and opens it. */
export const Teams = () => {
  const form = useDraft({ name: '' })
  const texts = t().account
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void form.run(async () => {
      const { id } = await request<{ readonly id: number }>('POST', '/api/account/add', form.draft)
      location.assign(baseOf(id))
    })
  }
  return (
    <Section title={texts.teams}>
      <form class="fields" onSubmit={submit}>
        <TextField label={texts.teamName} required {...form.field('name')} hint={texts.teamsText} />
        {form.problem() !== undefined && <Problem>{form.problem()}</Problem>}
        <div>
          <Button type="submit" busy={form.busy}>
            {texts.addTeam}
          </Button>
        </div>
      </form>
    </Section>
  )
}
