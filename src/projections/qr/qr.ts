import type { QrFields } from '../../events/qr/qr.ts'
import { defined } from '../../lib/defined.ts'
import { fenceHandler, ownedHandlers, ownedTables } from '../owned.ts'
import { type Change, type HandledProjection, put, remove } from '../engine/projection.ts'

/** Columns are named after the events' fields, except `logo_hash`. */
const columns = ({ logoHash: logo_hash, ...fields }: Partial<QrFields>) => defined({ ...fields, logo_hash })
const { created, updated, deleted, restored, erased } = ownedHandlers('qrs', columns)
/** Remembers every logo that an event names, also after it was replaced, so that only others are deleted as unused. */
const named = (account: number | null, { logoHash: hash }: Pick<QrFields, 'logoHash'>): readonly Change[] =>
  account !== null && hash ? [put('qr_logos', { account, hash }, {})] : []

/**
 * One row serves the lists, the image and the scans, which record the `revision` that led to their destination.
 */
export const qrs: HandledProjection = {
  name: 'qrs',
  version: 4,
  filter: 'domain',
  tables: {
    ...ownedTables(
      'qrs',
      `type text not null, alias text not null, foreground text not null, background text not null, logo text, logo_hash text,
       name text, data text`,
      'alias',
    ),
    qr_logos: (t) => `create table ${t} (account bigint, hash text collate "C", primary key (account, hash))`,
  },
  on: {
    QrCreated: (event) => [...created(event), ...named(event.data.account, event.data)],
    QrUpdated: (event) => [...updated(event), ...named(event.metadata.account, event.data.changes)],
    QrDeleted: deleted,
    QrRestored: restored,
    ClaimFenced: fenceHandler('qr', 'qrs'),
    AccountErased: (event) => [...erased(event), remove('qr_logos', { account: event.data.id })],
  },
}
