import { withoutScheme } from '../../core/address.ts'
import type { LinkRow } from '../../../http/links/contract/link.ts'
import { t } from '../../core/alltexts.ts'
import { Mark } from '../../parts/mark.tsx'

const marks = { scheduled: 'wait', expired: 'ended', protected: 'locked', blocked: 'bad' } as const

/** Marks a link that does not simply lead on: what a visitor meets, and whether it is in the archive. */
const RowState = ({ link: { status, archived } }: { readonly link: Pick<LinkRow, 'status' | 'archived'> }) => {
  const { link: texts, resources } = t()
  return (
    <>
      {status !== 'active' && (
        <Mark kind={marks[status]}>{status === 'blocked' ? resources.blocked : texts[status]}</Mark>
      )}
      {archived && <Mark kind="off">{texts.archived}</Mark>}
    </>
  )
}

/** What a row says below the name of a link: its state, its title, and where it leads. */
export const SecondLine = ({ link }: { readonly link: LinkRow }) => (
  <span class="to cut" dir="auto" title={link.longurl}>
    <RowState link={link} />
    {link.title ? `${link.title} · ` : ''}
    {withoutScheme(link.longurl)}
  </span>
)
