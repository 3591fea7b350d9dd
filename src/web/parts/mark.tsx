import type { ComponentChildren } from 'preact'

const ring = <circle cx="6" cy="6" r="4.5" />
const shapes = {
  good: <circle class="full" cx="6" cy="6" r="4.5" />,
  off: ring,
  wait: (
    <>
      {ring}
      <path class="full" d="M6 1.5a4.5 4.5 0 0 1 0 9z" />
    </>
  ),
  ended: (
    <>
      {ring}
      <path d="M3 9l6-6" />
    </>
  ),
  bad: <path d="M6 1.5l5 9H1zM6 5v2.5M6 9v.2" />,
  locked: <path d="M2 5.5h8v5H2zM4 5.5V3.8a2 2 0 0 1 4 0v1.7" />,
} as const
export type MarkKind = keyof typeof shapes

/** A state has a shape, a color and a word: the color alone says nothing. */
export const Mark = ({ kind, children }: { readonly kind: MarkKind; readonly children: ComponentChildren }) => (
  <span class={`status mark-${kind}`}>
    <svg viewBox="0 0 12 12" aria-hidden="true">
      {shapes[kind]}
    </svg>
    {children}
  </span>
)
