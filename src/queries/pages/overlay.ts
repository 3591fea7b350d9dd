import type { OverlayFields } from '../../events/pages/overlay.ts'
import { findOwned, listOwned, type OwnedRow } from '../owned.ts'
import type { ListRequest } from '../page.ts'
import type { Reader } from '../reader.ts'

export type OverlayRow = OwnedRow & OverlayFields
type Raw = OwnedRow & Omit<OverlayFields, 'position'> & { readonly corner: OverlayFields['position'] }
const overlay = ({ corner, ...row }: Raw): OverlayRow => ({ ...row, position: corner })

export const listOverlays = async (reader: Reader, account: number, request: ListRequest) => {
  const { rows, ...listed } = await listOwned<Raw>(reader, { kind: 'overlay' }, account, request)
  return { ...listed, rows: rows.map(overlay) }
}
export const findOverlay = async (reader: Reader, account: number, id: number) => {
  const row = await findOwned<Raw>(reader, 'overlays', account, id)
  return row && overlay(row)
}
