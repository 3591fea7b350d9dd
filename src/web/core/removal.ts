import { useState } from 'preact/hooks'
import { request } from './api.ts'
import { t } from './alltexts.ts'
import { fill } from './texts.ts'
import { attempt } from './toasts.ts'

/** Something to delete, which Undo restores. */
export interface Removable {
  readonly id: number
  readonly name: string
}

/** Deletes a resource at a path such as `/api/pixel`. The message about it has an Undo button. */
export const remove = (
  path: string,
  { id, name }: Removable,
  apply: () => () => void,
  send: () => Promise<unknown> = () => request('DELETE', `${path}/${id}/delete`),
): Promise<boolean> => {
  let takeBack = () => {}
  return attempt({
    apply: () => (takeBack = apply()),
    send,
    done: fill(t().resources.deleted, { name }),
    what: name,
    undo: async () => {
      await request('POST', `${path}/${id}/restore`)
      takeBack()
    },
  })
}

/** Rows of a list that disappear at once, before the service has deleted them. */
export const useHidden = () => {
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set())
  const show = (id: number) => setHidden((before) => new Set([...before].filter((one) => one !== id)))
  const hide = (id: number) => {
    setHidden((before) => new Set([...before, id]))
    return () => show(id)
  }
  return { isHidden: (id: number) => hidden.has(id), hide }
}
