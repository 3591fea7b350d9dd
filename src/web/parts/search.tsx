import { useEffect, useId, useState } from 'preact/hooks'
import { at, go, withQuery } from '../core/router.ts'
import { Icon } from './icon.tsx'

/** ms after the last letter until a search begins */
const pause = 250

interface SearchProps {
  readonly label: string
  readonly value: string
  readonly onValue: (text: string) => void
}

/** A field that searches while the user types. */
export const SearchBox = ({ label, value, onValue }: SearchProps) => {
  const [text, setText] = useState(value)
  const id = useId()
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text.trim() === value) return undefined
    const timer = setTimeout(() => onValue(text.trim()), pause)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <form class="search" role="search" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <Icon name="search" />
      <input
        class="input"
        id={id}
        type="search"
        placeholder={label}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  )
}

/** The search of a list. The address has the search text. */
export const ListSearch = ({ label }: { readonly label: string }) => (
  <SearchBox
    label={label}
    value={at.value.query.get('q') ?? ''}
    onValue={(q) => go(withQuery({ q, page: undefined }), { replace: true })}
  />
)
