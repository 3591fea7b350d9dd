import type { PixelFields } from '../events/pixel.ts'
import { listOwned, type OwnedRow } from './owned.ts'
import type { Page } from './page.ts'
import type { Reader } from './reader.ts'

export type PixelRow = OwnedRow & PixelFields
export const listPixels = (reader: Reader, account: number, page: Page) =>
  listOwned<PixelRow>(reader, 'pixels', account, page)
