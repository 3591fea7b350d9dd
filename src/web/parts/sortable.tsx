import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { t } from '../core/alltexts.ts'
import { fill } from '../core/texts.ts'
import { Icon } from './icon.tsx'

interface SortableProps<T> {
  readonly items: readonly T[]
  readonly keyOf: (item: T) => string | number
  readonly nameOf: (item: T, n: number) => string
  readonly onOrder: (items: readonly T[]) => void
  readonly onRemove: (n: number) => void
  readonly row: (item: T, n: number) => ComponentChildren
}

const moved = <T,>(items: readonly T[], from: number, to: number): readonly T[] => {
  const rest = items.filter((_, n) => n !== from)
  const item = items[from]
  return item === undefined ? items : [...rest.slice(0, to), item, ...rest.slice(to)]
}

/** Returns the place that a pointer is at, among rows. */
const placeAt = (list: HTMLElement, y: number): number => {
  const rows = [...list.children]
  const below = rows.findIndex((row) => {
    const { top, height } = row.getBoundingClientRect()
    return y < top + height / 2
  })
  return below === -1 ? rows.length - 1 : below
}

/**
 * Rows whose order can be changed: by a handle that is dragged or moved with the arrow keys, and by buttons, for those
 * who do neither. A screen reader says where a row is then.
 */
export const Sortable = <T,>({ items, keyOf, nameOf, onOrder, onRemove, row }: SortableProps<T>) => {
  const list = useRef<HTMLOListElement>(null)
  const [held, setHeld] = useState<number | undefined>(undefined)
  const [said, setSaid] = useState('')
  const texts = t().editors
  const move = (from: number, to: number) => {
    const item = items[from]
    if (item === undefined || to < 0 || to >= items.length || from === to) return false
    onOrder(moved(items, from, to))
    setSaid(fill(texts.movedTo, { name: nameOf(item, from), n: to + 1, of: items.length }))
    return true
  }
  const drag = (event: PointerEvent) => {
    if (held === undefined || !list.current) return
    const to = placeAt(list.current, event.clientY)
    // the place between two rows is below the upper one while the row moves down
    const place = to > held ? to - (event.clientY < rowMiddle(list.current, to) ? 1 : 0) : to
    if (place !== held && move(held, place)) setHeld(place)
  }
  const onKey = (event: KeyboardEvent, n: number) => {
    const to = { ArrowUp: n - 1, ArrowDown: n + 1, Home: 0, End: items.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    move(n, to)
  }
  return (
    <>
      <ol class="sortable" ref={list}>
        {items.map((item, n) => {
          const named = (text: string) => fill(text, { name: nameOf(item, n) })
          return (
            <li key={keyOf(item)} class={held === n ? 'held' : ''}>
              <button
                class="button plain only-icon handle"
                type="button"
                aria-label={named(texts.handle)}
                title={texts.handleHint}
                onKeyDown={(event) => onKey(event, n)}
                onPointerDown={(event) => {
                  event.currentTarget.setPointerCapture(event.pointerId)
                  setHeld(n)
                }}
                onPointerMove={drag}
                onPointerUp={() => setHeld(undefined)}
                onPointerCancel={() => setHeld(undefined)}
              >
                <Icon name="drag" />
              </button>
              <div>{row(item, n)}</div>
              <div class="row-tools">
                <Step icon="up" label={named(texts.up)} disabled={n === 0} onClick={() => move(n, n - 1)} />
                <Step
                  icon="down"
                  label={named(texts.down)}
                  disabled={n === items.length - 1}
                  onClick={() => move(n, n + 1)}
                />
                <Step icon="close" label={named(texts.removeRow)} onClick={() => onRemove(n)} />
              </div>
            </li>
          )
        })}
      </ol>
      <p class="visually-hidden" role="status">
        {said}
      </p>
    </>
  )
}

const rowMiddle = (list: HTMLElement, n: number): number => {
  const box = list.children[n]?.getBoundingClientRect()
  return box ? box.top + box.height / 2 : 0
}

interface StepProps {
  readonly icon: 'up' | 'down' | 'close'
  readonly label: string
  readonly disabled?: boolean
  readonly onClick: () => void
}

/** It keeps the focus at the end of the list, where it does nothing: a disabled button would lose it. */
const Step = ({ icon, label, disabled, onClick }: StepProps) => (
  <button
    class="button plain only-icon"
    type="button"
    aria-label={label}
    title={label}
    aria-disabled={disabled || undefined}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
)
