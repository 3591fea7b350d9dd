import type { PixelFields } from '../../events/pages/pixel.ts'
import { listOwned, type OwnedRow } from '../owned.ts'
import type { ListRequest } from '../page.ts'
import type { Reader } from '../reader.ts'

export type PixelRow = OwnedRow & PixelFields
export const listPixels = (reader: Reader, account: number, request: ListRequest) =>
  listOwned<PixelRow>(reader, { kind: 'pixel' }, account, request)
