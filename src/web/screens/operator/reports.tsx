import type { Report, ReportList } from '../../../http/operator/contract.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { at, withQuery } from '../../core/router.ts'
import { t } from '../../core/alltexts.ts'
import { counted, fill } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Erased } from '../../parts/erased.tsx'
import { Listing, Named, useList } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { BlockForm, type Draft } from './blockform.tsx'
import { OperatorPage } from './page.tsx'
import { When } from '../../parts/when.tsx'

const reasonOf = ({ reason }: Report) => {
  const { reasons } = t().operator
  return reasons[reason as keyof typeof reasons] ?? reason
}

/** What a visitor has written, and who it concerns. */
const Reported = (report: Report) => {
  const { operator: texts } = t()
  const { account, address, email, message, open, reference } = report
  const note = [
    reference,
    fill(texts.account, { id: account }),
    ...(open > 1 ? [counted(texts.openReports, open)] : []),
  ]
  return (
    <>
      <Named name={address} note={note.join(' · ')} />
      {message === null ? (
        <span class="note">
          <Erased />
        </span>
      ) : (
        message !== '' && (
          <span class="answer" dir="auto">
            {message}
          </span>
        )
      )}
      {email && <span class="note cut">{fill(texts.from, { email })}</span>}
    </>
  )
}

/** What the report of something that can be blocked proposes. */
const draftOf = (report: Report): Draft => ({
  kind: 'link',
  value: `${report.kind === 'link' ? 'id' : report.kind}:${report.subject}`,
  reason: fill(t().operator.byReport, { reason: reasonOf(report), reference: report.reference }),
  called: report.address,
})
const canBeBlocked = ({ kind }: Report) => kind === 'link' || kind === 'bio' || kind === 'campaign'

/** Asks before what a visitor wrote is destroyed. */
const Erase = ({ reference, onClose }: Pick<Report, 'reference'> & { readonly onClose: () => void }) => {
  const { operator: texts } = t()
  const erase = () =>
    request('POST', '/api/operator/report/erase', { reference }).then(
      () => say(fill(texts.isErased, { reference })),
      sayProblem,
    )
  return (
    <Confirm
      title={fill(texts.eraseReportTitle, { reference })}
      text={texts.eraseReportText}
      action={texts.eraseReport}
      onClose={onClose}
      onConfirm={erase}
    />
  )
}

/** Open reports, or closed ones. */
const Which = ({ closed }: { readonly closed: boolean }) => {
  const texts = t().operator
  const choices = [
    [undefined, texts.open],
    ['true', texts.closed],
  ] as const
  return (
    <nav class="presets" aria-label={texts.reports}>
      {choices.map(([value, name]) => (
        <a
          key={name}
          href={withQuery({ closed: value, page: undefined })}
          aria-current={closed === (value === 'true') ? 'true' : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  )
}

/** What visitors have reported: to block it, and to say that it is dealt with. */
export const OperatorReports = () => {
  const [draft, setDraft] = useState<Draft | undefined>(undefined)
  const [asked, setAsked] = useState<Report | undefined>(undefined)
  const closed = at.value.query.get('closed') === 'true'
  const { list, rows } = useList<ReportList>('/api/operator/reports', 'reports', { closed: String(closed) })
  const { operator: texts, resources } = t()
  const close = ({ reference }: Report) =>
    request('POST', '/api/operator/report/close', { reference }).then(
      () => say(fill(texts.isClosed, { reference })),
      sayProblem,
    )
  return (
    <OperatorPage>
      <Which closed={closed} />
      <Listing
        title={texts.reports}
        list={list}
        rows={rows}
        keyOf={({ reference }) => reference}
        searchFor={texts.searchReports}
        none={
          closed
            ? { title: texts.noClosed, text: texts.noClosedText }
            : { title: texts.noReports, text: texts.noReportsText }
        }
        columns={[
          { name: texts.reported, cell: (row) => <Reported {...row} /> },
          {
            name: resources.state,
            kind: 'state',
            cell: (row) => (
              <>
                <Mark kind="bad">{reasonOf(row)}</Mark>
                {row.blocked && <Mark kind="locked">{resources.blocked}</Mark>}
              </>
            ),
          },
          { name: texts.sent, kind: 'wide', cell: ({ sent }) => <When at={moment(sent)} /> },
        ]}
        tools={(row) => (
          <>
            {canBeBlocked(row) && !row.blocked && (
              <Button onClick={() => setDraft(draftOf(row))}>{texts.blockMore}</Button>
            )}
            {row.closed === '' && <Button onClick={() => void close(row)}>{texts.close}</Button>}
            {row.message !== null && <Button onClick={() => setAsked(row)}>{texts.eraseReport}</Button>}
          </>
        )}
      />
      {asked && <Erase {...asked} onClose={() => setAsked(undefined)} />}
      {draft && <BlockForm draft={draft} onClose={() => setDraft(undefined)} />}
    </OperatorPage>
  )
}
