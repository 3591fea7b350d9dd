import type { SplashFields } from '../../events/pages/splash.ts'
import { findOwned, listOwned, type OwnedRow } from '../owned.ts'
import type { ListRequest } from '../page.ts'
import type { Reader } from '../reader.ts'

export type SplashRow = OwnedRow & SplashFields
export const listSplashes = (reader: Reader, account: number, request: ListRequest) =>
  listOwned<SplashRow>(reader, { kind: 'splash' }, account, request)
export const findSplash = (reader: Reader, account: number, id: number) =>
  findOwned<SplashRow>(reader, 'splashes', account, id)
