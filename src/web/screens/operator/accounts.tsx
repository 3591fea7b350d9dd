import type { OperatorAccount, OperatorAccountList } from '../../../http/operator/contract.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { account as signedIn } from '../../core/session.ts'
import { t } from '../../core/alltexts.ts'
import { figure, fill } from '../../core/texts.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { dateColumn, Listing, Named, useList } from '../../parts/listing.tsx'
import { Mark } from '../../parts/mark.tsx'
import { OperatorPage } from './page.tsx'

const marks = { active: 'good', disabled: 'off', erased: 'ended' } as const

const nameOf = ({ id, email }: OperatorAccount) => email || fill(t().operator.account, { id })

const set = (account: OperatorAccount, word: 'disable' | 'enable') =>
  request('POST', `/api/operator/account/${word}`, { id: account.id })

/** All accounts of the service: who they are, and whether they work. */
export const OperatorAccounts = () => {
  const [asked, setAsked] = useState<OperatorAccount | undefined>(undefined)
  const { list, rows } = useList<OperatorAccountList>('/api/operator/accounts', 'accounts')
  const { operator: texts, resources } = t()
  const enable = (row: OperatorAccount) =>
    set(row, 'enable').then(() => say(fill(texts.isEnabled, { name: nameOf(row) })), sayProblem)
  const disable = (row: OperatorAccount) =>
    set(row, 'disable').then(
      () =>
        say(fill(texts.isDisabled, { name: nameOf(row) }), {
          action: { label: t().actions.undo, run: () => void enable(row) },
        }),
      sayProblem,
    )
  return (
    <OperatorPage>
      <Listing
        title={texts.accounts}
        list={list}
        rows={rows}
        keyOf={({ id }) => id}
        searchFor={texts.searchAccounts}
        none={{ title: texts.noAccounts, text: texts.noAccountsText }}
        columns={[
          {
            name: texts.accountName,
            cell: (row) => (
              <Named name={nameOf(row)} note={`id:${row.id}${row.username === '' ? '' : ` · @${row.username}`}`} />
            ),
          },
          {
            name: resources.state,
            kind: 'state',
            cell: ({ status }) => <Mark kind={marks[status]}>{texts.statuses[status]}</Mark>,
          },
          { name: texts.links, kind: 'num', cell: ({ links }) => figure(links) },
          dateColumn(texts.registered, (row: OperatorAccount) => row.registered),
        ]}
        tools={(row) => {
          if (row.status === 'erased') return null
          if (row.id === signedIn.value?.id) return <span class="quiet small">{texts.you}</span>
          return row.status === 'active' ? (
            <Button onClick={() => setAsked(row)}>{texts.disable}</Button>
          ) : (
            <Button onClick={() => void enable(row)}>{texts.enable}</Button>
          )
        }}
      />
      {asked && (
        <Confirm
          title={fill(texts.disableTitle, { name: nameOf(asked) })}
          text={texts.disableText}
          action={texts.disable}
          onClose={() => setAsked(undefined)}
          onConfirm={() => disable(asked)}
        />
      )}
    </OperatorPage>
  )
}
