import type { OverlayFields } from '../events/overlay.ts'
import { findOwned, listOwned, type OwnedRow } from './owned.ts'
import type { Page } from './page.ts'
import type { Reader } from './reader.ts'

export type OverlayRow = OwnedRow & OverlayFields
type Raw = OwnedRow & Omit<OverlayFields, 'position'> & { readonly corner: OverlayFields['position'] }
const overlay = ({ corner, ...row }: Raw): OverlayRow => ({ ...row, position: corner })

export const listOverlays = async (reader: Reader, account: number, page: Page) => {
  const { total, rows } = await listOwned<Raw>(reader, 'overlays', account, page)
  return { total, rows: rows.map(overlay) }
}
export const findOverlay = async (reader: Reader, account: number, id: number) => {
  const row = await findOwned<Raw>(reader, 'overlays', account, id)
  return row && overlay(row)
}
