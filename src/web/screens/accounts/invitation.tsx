import type { InvitationAccepted, InvitationFound } from '../../../http/accounts/contract/member.ts'
import { useEffect, useState } from 'preact/hooks'
import { baseOf } from '../../core/acting.ts'
import { t } from '../../core/alltexts.ts'
import { ApiError, request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { at } from '../../core/router.ts'
import { account } from '../../core/session.ts'
import { Button } from '../../parts/button.tsx'
import { Problem } from '../../parts/field.tsx'
import { Head, Section } from '../../parts/section.tsx'
import { Failed, Skeleton } from '../../parts/states.tsx'
import { filled } from '../../parts/when.tsx'
import { roleName } from './role.ts'

/** An invitation to another account, which the signed-in person may accept. */
export const Invitation = () => {
  const token = at.value.query.get('t') ?? ''
  const [found, setFound] = useState<InvitationFound['data'] | ApiError | undefined>(undefined)
  const { run, busy, problem } = useForm()
  const texts = t().members
  const read = () =>
    void request<InvitationFound>('POST', '/api/invitation', { token }).then(
      ({ data }) => setFound(data),
      (error: unknown) => error instanceof ApiError && setFound(error),
    )
  useEffect(read, [token])
  const accept = () =>
    void run(async () => {
      const { account: joined } = await request<InvitationAccepted>('POST', '/api/invitation/accept', { token })
      location.assign(baseOf(joined))
    })
  return (
    <>
      <Head title={texts.invitation} />
      {found === undefined && <Skeleton rows={2} label={texts.invitation} />}
      {found instanceof ApiError && <Failed error={found} reload={read} />}
      {found !== undefined && !(found instanceof ApiError) && (
        <Section title={texts.accept}>
          <p>
            {filled(texts.acceptText, {
              name: <bdi>{found.name}</bdi>,
              role: roleName(found.role),
              email: <bdi>{account.value?.email}</bdi>,
            })}
          </p>
          {problem() !== undefined && <Problem>{problem()}</Problem>}
          <div>
            <Button kind="primary" busy={busy} onClick={accept}>
              {texts.accept}
            </Button>
          </div>
        </Section>
      )}
    </>
  )
}
