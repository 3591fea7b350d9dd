import type { Proposal, ProposalList } from '../../../http/approvals/contract.ts'
import { t } from '../../core/alltexts.ts'
import { at, go, href, withQuery } from '../../core/router.ts'
import { textFor } from '../../core/texts.ts'
import { type Column, dateColumn, Listing, ListHead, Named, useList } from '../../parts/listing.tsx'
import { Mark, type MarkKind } from '../../parts/mark.tsx'
import { kindName } from '../history/words.ts'

const marks: Readonly<Record<string, MarkKind>> = { open: 'wait', approved: 'good', refused: 'bad' }

/** What a resource that would be changed is called. */
export const nameOfResource = ({ type, id }: Proposal['resource']): string =>
  type === 'approval' ? t().approvals.rules : `${kindName(type)} ${id}`
export const nameOfPerson = ({ name }: Proposal['by']): string => name || t().history.someone.former

export const Status = ({ status }: Pick<Proposal, 'status'>) => (
  <Mark kind={marks[status] ?? 'ended'}>{textFor(t().approvals.states, status) ?? status}</Mark>
)

const columns = (): readonly Column<Proposal>[] => [
  {
    name: t().approvals.change,
    cell: (row) => <Named name={nameOfResource(row.resource)} to={href(`/approvals/${row.id}`)} note={row.note} />,
  },
  { name: t().approvals.by, cell: ({ by }) => <bdi>{nameOfPerson(by)}</bdi> },
  { name: t().resources.state, kind: 'state', cell: (row) => <Status {...row} /> },
  dateColumn(t().resources.created, ({ date }) => date),
]

/** What was proposed in the account: first what waits. */
export const Approvals = () => {
  const all = at.value.query.get('all') === 'yes'
  const { list, rows } = useList<ProposalList>('/api/proposals', 'proposals', all ? {} : { status: 'open' })
  const texts = t().approvals
  return (
    <>
      <ListHead title={texts.title} text={texts.text} count={texts.count} list={list}>
        <button class="button" type="button" onClick={() => go(withQuery({ all: all ? '' : 'yes' }))}>
          {all ? texts.onlyOpen : texts.showAll}
        </button>
      </ListHead>
      <Listing
        title={texts.title}
        list={list}
        rows={rows}
        keyOf={({ id }) => id}
        none={{ title: texts.none, text: texts.noneText }}
        columns={columns()}
      />
    </>
  )
}
