import type { BulkAnswer } from '../../http/links/contract/bulk.ts'
import { t } from './alltexts.ts'
import { ApiError, request } from './api.ts'
import { told } from './messages.ts'

type Row = { readonly id: number } & Readonly<Record<string, unknown>>

/** what the service takes in one request */
const most = 1000

/** Changes links. Throws `ApiError` with what is wrong with the first one that is refused. */
export const changeLinks = async (op: 'update' | 'delete', rows: readonly Row[]): Promise<void> => {
  for (let n = 0; n < rows.length; n += most) {
    const answer = await request<BulkAnswer>('POST', `/api/urls/bulk?op=${op}`, { rows: rows.slice(n, n + most) })
    const problem = answer.rows.find((row) => row.error === 1)
    if (answer.failed > 0) throw new ApiError(400, problem === undefined ? t().errors.unknown : await told(problem))
  }
}
