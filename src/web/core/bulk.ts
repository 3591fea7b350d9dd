import { t } from './alltexts.ts'
import { ApiError, request } from './api.ts'
import { type Failed, told } from './messages.ts'

interface BulkAnswer {
  readonly failed: number
  readonly rows: readonly (Failed & { readonly error: 0 | 1 })[]
}
type Row = { readonly id: number } & Readonly<Record<string, unknown>>

/** what the service takes in one request */
const most = 1000

/** Changes links. Throws `ApiError` with what is wrong with the first one that is refused. */
export const changeLinks = async (op: 'update' | 'delete', rows: readonly Row[]): Promise<void> => {
  for (let n = 0; n < rows.length; n += most) {
    const answer = await request<BulkAnswer>('POST', `/api/urls/bulk?op=${op}`, { rows: rows.slice(n, n + most) })
    const problem = answer.rows.find(({ error }) => error === 1)
    if (answer.failed > 0) throw new ApiError(400, problem === undefined ? t().errors.unknown : await told(problem))
  }
}
