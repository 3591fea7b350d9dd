import type { BioFields } from '../events/bio.ts'
import { findOwned, listOwned, type OwnedRow } from './owned.ts'
import type { Page } from './page.ts'
import type { Reader } from './reader.ts'

export type BioRow = OwnedRow & BioFields
export const listBios = (reader: Reader, account: number, page: Page) =>
  listOwned<BioRow>(reader, 'bios', account, page)
export const findBio = (reader: Reader, account: number, id: number) => findOwned<BioRow>(reader, 'bios', account, id)
