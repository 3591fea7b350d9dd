import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ProposalList } from '../../http/approvals/contract.ts'
import { useLoad } from './load.ts'

/** Whether changes are approved in the account, and how many wait. */
export const approvals = signal({ guarded: false, waiting: 0 })

/** Keeps that up to date while it is used. */
export const useApprovals = (): void => {
  const { data } = useLoad<ProposalList>('/api/proposals?status=open&limit=1&fields=id', { ofNow: true })
  useEffect(() => {
    if (data) approvals.value = { guarded: data.guarded || data.data.result > 0, waiting: data.data.result }
  }, [data])
}
