import type { ComponentChildren } from 'preact'
import type { ApiError } from '../../../core/api.ts'
import { problemOf } from '../../../core/form.ts'
import { t } from '../../../core/alltexts.ts'
import { counted } from '../../../core/texts.ts'
import { TextField } from '../../../parts/field.tsx'
import { type Draft, type Group, groupOf, hasContent } from './draft.ts'

/** What each part of the form gets. */
export interface FormProps {
  readonly draft: Draft
  readonly set: (changes: Partial<Draft>) => void
  readonly error: ApiError | undefined
  /** whether the link has a password now */
  readonly hasPassword: boolean
}

interface FoldProps extends FormProps {
  readonly group: Group
  readonly title: string
  /** a short summary of its content */
  readonly summary: string
  readonly children: ComponentChildren
}

/** A part of the form that is folded unless it has something, or something is wrong in it. */
export const Fold = ({ group, title, summary, draft, error, children }: FoldProps) => {
  const isWrong = groupOf(error?.field) === group
  return (
    <details class="fold" open={isWrong || hasContent(group, draft)}>
      <summary>
        {title}
        <span class={isWrong ? 'bad' : ''} dir="auto">
          {isWrong ? counted(t().editor.problem, 1) : summary}
        </span>
      </summary>
      <div>{children}</div>
    </details>
  )
}

type TextName = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft]

interface PlainProps extends Pick<FormProps, 'draft' | 'set' | 'error'> {
  readonly name: TextName
  readonly label: string
  readonly hint?: string | undefined
  readonly type?: 'text' | 'url' | 'datetime-local' | 'number'
  readonly rows?: number | undefined
}

/** A field that is text in the form and in the API. */
export const Plain = ({ draft, set, error, name, label, hint, type, rows }: PlainProps) => (
  <TextField
    label={label}
    value={draft[name]}
    onValue={(value) => set({ [name]: value })}
    problem={problemOf(error, name)}
    hint={hint}
    {...(type && { type })}
    {...(rows !== undefined && { rows })}
  />
)
