import { Field } from './field.tsx'

export const isColor = (text: string): boolean => /^#[\da-f]{6}$/i.test(text)

interface ColorProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly problem?: string | undefined
  readonly hint?: string | undefined
  /** what is shown while there is none */
  readonly none?: string
}

/** A color, chosen or typed. */
export const ColorField = ({ label, value, onValue, problem, hint, none = '#000000' }: ColorProps) => (
  <Field label={label} problem={problem} hint={hint}>
    {(control) => (
      <div class="color">
        <input
          type="color"
          aria-label={label}
          value={isColor(value) ? value.toLowerCase() : none}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
        <input
          {...control}
          class="input"
          spellcheck={false}
          maxLength={7}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      </div>
    )}
  </Field>
)
