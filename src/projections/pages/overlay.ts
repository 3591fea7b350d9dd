import { ownedHandlers, ownedTables } from '../owned.ts'
import type { Projection } from '../engine/projection.ts'
import type { Row } from '../engine/row.ts'

/** In every table `position` is the position in the log, so the overlay's own position is stored as `corner`. */
const columns = (fields: { readonly position?: string }): Row => {
  const { position, ...same } = fields
  return { ...same, ...(position === undefined ? {} : { corner: position }) }
}

const { created, updated, deleted, restored, erased } = ownedHandlers('overlays', columns)

export const overlays: Projection = {
  name: 'overlays',
  version: 3,
  filter: 'domain',
  tables: ownedTables(
    'overlays',
    `type text not null, name text not null, message text not null, label text not null, link text not null, image text not null,
     color text not null, corner text not null, question text not null, options json not null, coupon text not null`,
  ),
  on: {
    OverlayCreated: created,
    OverlayUpdated: updated,
    OverlayDeleted: deleted,
    OverlayRestored: restored,
    AccountErased: erased,
  },
}
