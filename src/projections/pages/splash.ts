import { ownedHandlers, ownedTables } from '../owned.ts'
import type { Projection } from '../engine/projection.ts'

const { created, updated, deleted, restored, erased } = ownedHandlers('splashes')

export const splashes: Projection = {
  name: 'splashes',
  version: 4,
  filter: 'domain',
  tables: ownedTables(
    'splashes',
    'name text not null, title text not null, message text not null, logo text not null, banner text not null, product text not null, label text, "productLabel" text, color text, counter int not null',
  ),
  on: {
    SplashCreated: created,
    SplashUpdated: updated,
    SplashDeleted: deleted,
    SplashRestored: restored,
    AccountErased: erased,
  },
}
