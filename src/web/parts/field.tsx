import { type ComponentChildren, toChildArray } from 'preact'
import { useId, useState } from 'preact/hooks'
import { t } from '../core/texts.ts'
import { Icon } from './icon.tsx'

export const Problem = ({
  id,
  children,
}: {
  readonly id?: string | undefined
  readonly children: ComponentChildren
}) => (
  <p class="message bad" id={id} role="alert">
    <Icon name="warning" />
    <span>{children}</span>
  </p>
)

export const Good = ({ id, children }: { readonly id?: string | undefined; readonly children: ComponentChildren }) => (
  <p class="message good" id={id} role="status">
    <Icon name="check" />
    <span>{children}</span>
  </p>
)

interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  readonly problem?: string | undefined
  readonly good?: string | undefined
  /** beside the label */
  readonly extra?: ComponentChildren
  /** Gets the id of the control and what it is described by. */
  readonly children: (control: {
    readonly id: string
    readonly 'aria-describedby': string | undefined
    readonly 'aria-invalid': true | undefined
  }) => ComponentChildren
}

/** A control with its label, and below it what is expected, or what is wrong. */
export const Field = ({ label, hint, problem, good, extra, children }: FieldProps) => {
  const id = useId()
  const note = `${id}-note`
  const described = problem ?? good ?? hint
  return (
    <div class="field">
      {toChildArray(extra).length > 0 ? (
        <div class="label-row">
          <label for={id}>{label}</label>
          {extra}
        </div>
      ) : (
        <label for={id}>{label}</label>
      )}
      {children({
        id,
        'aria-describedby': described === undefined ? undefined : note,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {problem !== undefined && <Problem id={note}>{problem}</Problem>}
      {problem === undefined && good !== undefined && <Good id={note}>{good}</Good>}
      {problem === undefined && good === undefined && hint !== undefined && (
        <p class="hint" id={note}>
          {hint}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly type?: 'text' | 'email' | 'url' | 'password' | 'number' | 'datetime-local' | 'search'
  readonly name?: string
  readonly autocomplete?: string
  readonly placeholder?: string | undefined
  readonly required?: boolean
  readonly autofocus?: boolean
  readonly big?: boolean
  readonly rows?: number
  readonly max?: number
  readonly inputMode?: 'numeric' | 'text'
}

/** A field of one line, or of several with `rows`. What people write may be in any direction. */
export const TextField = (props: TextFieldProps) => {
  const { value, onValue, type = 'text', big, rows, max, autofocus, required, placeholder, ...rest } = props
  const shared = {
    class: `input${big ? ' big-input' : ''}`,
    value,
    dir: 'auto' as const,
    required,
    autoFocus: autofocus,
    placeholder,
    maxLength: max,
    name: rest.name,
  }
  return (
    <Field {...rest}>
      {(control) =>
        rows === undefined ? (
          <input
            {...control}
            {...shared}
            // the types of Preact have a case for each kind of input
            type={type as 'text'}
            autoComplete={rest.autocomplete ?? 'off'}
            inputMode={rest.inputMode}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        ) : (
          <textarea {...control} {...shared} rows={rows} onInput={(event) => onValue(event.currentTarget.value)} />
        )
      }
    </Field>
  )
}

/** A field for a password, which can be shown while it is typed. */
export const PasswordField = (props: Omit<TextFieldProps, 'type' | 'extra'>) => {
  const [shown, setShown] = useState(false)
  return (
    <TextField
      {...props}
      type={shown ? 'text' : 'password'}
      extra={
        <button class="text-button small" type="button" aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? t().actions.hide : t().actions.show}
        </button>
      }
    />
  )
}

interface SelectFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly options: readonly (readonly [value: string, label: string])[]
}

export const SelectField = ({ value, onValue, options, ...rest }: SelectFieldProps) => (
  <Field {...rest}>
    {(control) => (
      <select {...control} class="input" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface SwitchProps {
  readonly label: string
  readonly value: boolean
  readonly onValue: (value: boolean) => void
}

export const Switch = ({ label, value, onValue }: SwitchProps) => (
  <label class="switch">
    <input class="check" type="checkbox" checked={value} onChange={(event) => onValue(event.currentTarget.checked)} />
    {label}
  </label>
)
