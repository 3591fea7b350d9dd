import type { FoundProposal } from '../../../http/approvals/contract.ts'
import { t } from '../../core/alltexts.ts'
import { request } from '../../core/api.ts'
import { useDraft } from '../../core/draft.ts'
import { useLoad } from '../../core/load.ts'
import { placeOf } from '../../core/places.ts'
import { href, type ScreenProps } from '../../core/router.ts'
import { role } from '../../core/session.ts'
import { say } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Problem, TextField } from '../../parts/field.tsx'
import { Head, Section } from '../../parts/section.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { filled, When } from '../../parts/when.tsx'
import { moment } from '../../core/time.ts'
import { Diff } from '../history/diff.tsx'
import { nameOfPerson, nameOfResource, Status } from './list.tsx'
import { Rehearsed } from './rehearsed.tsx'

type Details = FoundProposal['details']

/** Whether a role may decide on a change; who has proposed it may withdraw it. */
const mayDecide = () => ['owner', 'admin', 'editor'].includes(role.value)

/** Approves, refuses or withdraws what waits. */
const Decision = ({ details }: { readonly details: Details }) => {
  const form = useDraft({ note: '' })
  const texts = t().approvals
  const { note } = form.draft
  const decide = (verb: 'approve' | 'refuse', said: string) =>
    form.run(async () => {
      await request('POST', `/api/proposal/${details.id}/${verb}`, note === '' ? {} : { note })
      say(said)
    })
  const { own } = details
  return (
    <Section title={texts.decide}>
      {own && <p>{texts.ownText}</p>}
      {details.stale && <p>{texts.staleText}</p>}
      <div class="fields">
        <TextField label={texts.note} {...form.field('note')} rows={2} max={1000} />
        {form.problem() !== undefined && <Problem>{form.problem()}</Problem>}
        <p class="chips">
          {!own && !details.stale && (
            <Button kind="primary" busy={form.busy} onClick={() => void decide('approve', texts.approved)}>
              {texts.approve}
            </Button>
          )}
          <Button busy={form.busy} onClick={() => void decide('refuse', own ? texts.withdrawn : texts.refused)}>
            {own ? texts.withdraw : texts.refuse}
          </Button>
        </p>
      </div>
    </Section>
  )
}

/** A proposal: its changes, where it would have sent the visitors of the last days, and who decided. */
export const ProposalScreen = ({ params }: ScreenProps) => {
  const found = useLoad<FoundProposal>(`/api/proposal/${params['id'] ?? ''}`, { ofNow: true })
  const texts = t().approvals
  if (found.error) return <Failed error={found.error} reload={found.reload} />
  const details = found.data?.details
  if (!details) return <Skeleton rows={6} label={texts.title} />
  const { id, by, changes, date, decided, decider, deletes, note, own, resource, status } = details
  const place = placeOf(resource)
  const isOpen = status === 'open'
  // the service may not be able to compute the changes of a proposal that cannot be applied any more
  const hasEffect = deletes || changes.length > 0
  return (
    <>
      <Head
        title={nameOfResource(resource)}
        text={filled(texts.proposedBy, { name: <bdi>{nameOfPerson(by)}</bdi>, when: <When at={moment(date)} /> })}
      >
        {place !== undefined && (
          <a class="button" href={href(place)}>
            {texts.asItIs}
          </a>
        )}
      </Head>
      <div class="stack-4">
        <p>
          <Status status={status} />
          {decider &&
            filled(texts.decidedBy, { name: <bdi>{nameOfPerson(decider)}</bdi>, when: <When at={moment(decided)} /> })}
        </p>
        {note !== '' && <blockquote dir="auto">{note}</blockquote>}
        {isOpen && hasEffect && (
          <Section title={texts.changes}>{deletes ? <p>{texts.deletes}</p> : <Diff changes={changes} />}</Section>
        )}
        {isOpen && changes.length > 0 && !deletes && resource.type === 'url' && (
          <Rehearsed link={resource.id} proposal={id} />
        )}
        {isOpen && (own || mayDecide()) && <Decision details={details} />}
      </div>
    </>
  )
}
