import { get } from '../../core/api.ts'
import { saveFile } from '../../core/csv.ts'
import { sayProblem } from '../../core/toasts.ts'
import type { Receipt } from './verify.ts'

export const readReceipt = async (kind: 'events' | 'clicks', id: string): Promise<Receipt> => {
  const { event, click, proof } = await get<Receipt>(`/api/${kind}/${id}/proof`)
  return { event, ...(click === undefined ? {} : { click }), proof }
}

/**
 * Saves the receipt of an event or a click. The newest ones are in no signed checkpoint for a minute: the message says
 * so.
 */
export const saveReceipt = async (kind: 'events' | 'clicks', id: string): Promise<void> => {
  try {
    const receipt = await readReceipt(kind, id)
    saveFile(`receipt-${kind === 'events' ? 'event' : 'click'}-${id}.json`, JSON.stringify(receipt), 'application/json')
  } catch (error) {
    sayProblem(error)
  }
}
