import { ownedHandlers, ownedTables } from './owned.ts'
import type { Projection } from './projection.ts'

export const pixels: Projection = {
  name: 'pixels',
  version: 1,
  filter: 'domain',
  tables: ownedTables('pixels', 'type text not null, name text not null, tag text not null'),
  on: ownedHandlers('Pixel', 'pixels'),
}
