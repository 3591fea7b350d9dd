import type { ImportEvent } from '../../events/imports/import.ts'
import { decideBy, type Decider, refuse } from '../decider.ts'

interface Named {
  readonly id: string
  readonly account: number
}
export type ImportCommand =
  | (Named & { readonly type: 'Start' })
  | (Named & { readonly type: 'Finish'; readonly format: string; readonly links: number })
  | (Named & { readonly type: 'Undo'; readonly links: number; readonly kept: number })

export interface Import {
  readonly status: 'none' | 'started' | 'finished' | 'undone'
  readonly account: number
}

const requireOwn = (state: Import, account: number) =>
  state.status === 'none' || state.account !== account ? refuse('not_found', { what: 'import' }) : state

/** What is imported from other services. To start it again, or to end it again, changes nothing. */
export const importing: Decider<ImportCommand, Import, ImportEvent> = {
  kind: 'import',
  version: 1,
  id: ({ id }) => id,
  initialState: { status: 'none', account: 0 },
  decide: decideBy<ImportCommand, Import, ImportEvent>({
    Start: ({ id, account }, state) => {
      if (state.status === 'none') return [{ type: 'ImportStarted', data: { id, account } }]
      requireOwn(state, account)
      return []
    },
    Finish: ({ id, account, format, links }, state) =>
      requireOwn(state, account).status === 'started'
        ? [{ type: 'ImportFinished', data: { id, account, format, links } }]
        : [],
    Undo: ({ id, account, links, kept }, state) => {
      const { status } = requireOwn(state, account)
      return status === 'undone' && links === 0 ? [] : [{ type: 'ImportUndone', data: { id, account, links, kept } }]
    },
  }),
  evolve: (state, { type, data }) => {
    switch (type) {
      case 'ImportStarted':
        return { status: 'started', account: data.account }
      case 'ImportFinished':
        return { ...state, status: 'finished' }
      case 'ImportUndone':
        return { ...state, status: 'undone' }
    }
  },
}
