import type { Recorded } from '../events/event.ts'
import type { QrEvent } from '../events/qr.ts'
import { ownedHandlers, ownedTables } from './owned.ts'
import { type HandledProjection, patch } from './projection.ts'

const { created, updated, deleted } = ownedHandlers('qrs')
/** Scans record which revision of the QR code led to their destination. */
const revised = ({ data: { id }, revision }: Recorded<QrEvent>) => patch('qrs', { id }, { revision })

/** One row serves the lists, the image and the scans. Fields that may identify a person are cleared when the account is erased. */
export const qrs: HandledProjection = {
  name: 'qrs',
  version: 1,
  filter: 'domain',
  tables: ownedTables(
    'qrs',
    `type text not null, alias text not null, foreground text not null, background text not null, logo text, name text, data text,
     revision bigint not null`,
    'alias',
  ),
  on: {
    QrCreated: (event) => [...created(event), revised(event)],
    QrUpdated: (event) => [...updated(event), revised(event)],
    QrDeleted: (event) => [...deleted(event), revised(event)],
    AccountErased: ({ data: { id } }) => [patch('qrs', { account: id }, { name: null, data: null })],
  },
}
