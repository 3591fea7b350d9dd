import { Field } from './field.tsx'

export const isColour = (text: string): boolean => /^#[\da-f]{6}$/i.test(text)

interface ColourProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly problem?: string | undefined
  readonly hint?: string | undefined
  /** what is shown while there is none */
  readonly none?: string
}

/** A colour, chosen or typed. */
export const ColourField = ({ label, value, onValue, problem, hint, none = '#000000' }: ColourProps) => (
  <Field label={label} problem={problem} hint={hint}>
    {(control) => (
      <div class="colour">
        <input
          type="color"
          aria-label={label}
          value={isColour(value) ? value.toLowerCase() : none}
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
