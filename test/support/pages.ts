import { en } from '../../src/http/public/texts/en.ts'
import type { View } from '../../src/http/public/view.ts'

/** A visitor who reads English. */
export const englishView: View = {
  texts: en,
  host: 'sho.rt',
  address: 'sho.rt/alias',
  phone: false,
  operator: { name: 'Linkledger', email: undefined, imprint: undefined, privacy: undefined },
}
