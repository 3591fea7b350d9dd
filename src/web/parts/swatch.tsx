import { t } from '../core/alltexts.ts'

interface SwatchProps {
  readonly color: string
  readonly starred?: boolean
}

/** The color of a channel; a star in it when it has one. */
export const Swatch = ({ color, starred = false }: SwatchProps) => (
  <svg
    class="swatch"
    viewBox="0 0 20 20"
    {...(starred ? { role: 'img', 'aria-label': t().channels.starred } : { 'aria-hidden': true })}
  >
    {starred ? (
      <path fill={color} d="M10 2l2.5 5.3 5.8.7-4.3 4 1.2 5.8L10 15l-5.2 2.8L6 12 1.7 8l5.8-.7z" />
    ) : (
      <circle fill={color} cx="10" cy="10" r="6" />
    )}
  </svg>
)
