import type { Block, BlockList } from '../../../http/operator/contract.ts'
import { useState } from 'preact/hooks'
import { t } from '../../core/alltexts.ts'
import { fill, textFor } from '../../core/texts.ts'
import { moment } from '../../core/time.ts'
import { Button } from '../../parts/button.tsx'
import { Listing, Named, useList } from '../../parts/listing.tsx'
import { BlockForm, emptyDraft, unblock } from './blockform.tsx'
import { OperatorPage } from './page.tsx'
import { When } from '../../parts/when.tsx'

const nameOf = ({ alias, value }: Block) => (alias === '' ? value : `/${alias}`)

const noteOf = ({ kind, value, alias, account, again }: Block) => {
  const texts = t().operator
  return [
    textFor(texts.kinds, kind) ?? kind,
    ...(alias === '' ? [] : [value]),
    ...(account === null ? [] : [fill(texts.account, { id: account })]),
    ...(again.length === 0 ? [] : [fill(texts.again, { links: again.join(', ') })]),
  ].join(' · ')
}

/** What is blocked, why, and by whom. */
export const OperatorBlocks = () => {
  const [isBlocking, setIsBlocking] = useState(false)
  const { list, rows } = useList<BlockList>('/api/operator/blocks', 'blocks')
  const { operator: texts } = t()
  const block = (
    <Button kind="primary" icon="plus" onClick={() => setIsBlocking(true)}>
      {texts.blockMore}
    </Button>
  )
  return (
    <OperatorPage action={block}>
      <Listing
        title={texts.blocks}
        list={list}
        rows={rows}
        keyOf={({ kind, value }) => `${kind} ${value}`}
        searchFor={texts.searchBlocks}
        none={{ title: texts.noBlocks, text: texts.noBlocksText }}
        columns={[
          {
            name: texts.blocked,
            cell: (row) => <Named name={nameOf(row)} note={noteOf(row)} />,
          },
          {
            name: texts.reason,
            kind: 'state',
            cell: ({ reason }) => (
              <span class="cut block" dir="auto" title={reason}>
                {reason}
              </span>
            ),
          },
          {
            name: texts.since,
            kind: 'wide',
            cell: ({ operator, since }) => (
              <>
                <When at={moment(since)} />
                <span class="note cut">{fill(texts.by, { name: operator })}</span>
              </>
            ),
          },
        ]}
        tools={(row) => <Button onClick={() => void unblock(row, nameOf(row))}>{texts.unblock}</Button>}
      />
      {isBlocking && <BlockForm draft={emptyDraft} onClose={() => setIsBlocking(false)} />}
    </OperatorPage>
  )
}
