import type { Recorded } from '../events/event.ts'
import type { QrEvent } from '../events/qr.ts'
import { ownedHandlers, ownedTables } from './owned.ts'
import { type Change, type HandledProjection, patch } from './projection.ts'

const kept = ownedHandlers('Qr', 'qrs')
/** A scan tells which revision of the code decided where it led. */
const revised =
  <E extends QrEvent>(handle: (event: Recorded<E>) => readonly Change[]) =>
  (event: Recorded<E>): readonly Change[] => [
    ...handle(event),
    patch('qrs', { id: event.data.id }, { revision: event.revision }),
  ]

/** One row serves the lists, the image and the scans. What may tell of a person goes with the account. */
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
    QrCreated: revised(kept.QrCreated),
    QrUpdated: revised(kept.QrUpdated),
    QrDeleted: revised(kept.QrDeleted),
    AccountErased: ({ data: { id } }) => [patch('qrs', { account: id }, { name: null, data: null })],
  },
}
