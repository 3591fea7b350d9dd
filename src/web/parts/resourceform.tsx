import type { ComponentChildren } from 'preact'
import { request } from '../core/api.ts'
import type { DraftState } from '../core/draft.ts'
import { go, href } from '../core/router.ts'
import { t } from '../core/texts.ts'
import { FormDialog } from './formdialog.tsx'

interface ResourceFormProps<D extends object> {
  /** of one resource, such as `/api/channel` */
  readonly one: string
  /** of the resource that is changed; undefined: a new one is made */
  readonly id?: number | undefined
  readonly texts: { readonly create: string; readonly edit?: string }
  readonly form: DraftState<D>
  /** what is sent: by default, what was entered */
  readonly body?: object
  /** the screens of these resources: a new one is shown on its own */
  readonly screens?: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** The form in which a resource is made or changed. */
export const ResourceForm = <D extends object>(props: ResourceFormProps<D>) => {
  const { one, id, texts, form, body = form.draft, screens, onClose, children } = props
  const submit = async () => {
    if (id !== undefined) await request('PUT', `${one}/${id}/update`, body)
    else {
      const made = await request<{ readonly id: number }>('POST', `${one}/add`, body)
      if (screens !== undefined) go(href(`${screens}/${made.id}`))
    }
    onClose()
  }
  return (
    <FormDialog
      title={(id !== undefined && texts.edit) || texts.create}
      action={id === undefined ? texts.create : t().actions.save}
      form={form}
      fields={Object.keys(form.draft)}
      onSubmit={submit}
      onClose={onClose}
    >
      {children}
    </FormDialog>
  )
}
