import { ownedHandlers, ownedTables } from '../owned.ts'
import type { Projection } from '../engine/projection.ts'

const { created, updated, deleted, restored, erased } = ownedHandlers('pixels')

export const pixels: Projection = {
  name: 'pixels',
  version: 3,
  filter: 'domain',
  tables: ownedTables('pixels', 'type text not null, name text not null, tag text not null'),
  on: {
    PixelCreated: created,
    PixelUpdated: updated,
    PixelDeleted: deleted,
    PixelRestored: restored,
    AccountErased: erased,
  },
}
