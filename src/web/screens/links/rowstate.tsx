import { withoutScheme } from '../../core/address.ts'
import type { LinkRow } from '../../../http/links/contract/link.ts'
import { Mark } from '../../parts/mark.tsx'
import { marks, wordOf } from './status.tsx'

/** Marks a link that does not simply lead on: what a visitor meets, and whether it is in the archive. */
const RowState = ({ link: { status, archived } }: { readonly link: Pick<LinkRow, 'status' | 'archived'> }) => {
  return (
    <>
      {status !== 'active' && <Mark kind={marks[status]}>{wordOf(status)}</Mark>}
      {archived && <Mark kind={marks.archived}>{wordOf('archived')}</Mark>}
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
