import type { OwnedKind } from '../../events/kinds.ts'

/** The drawings of the interface, in a square of 20. */
const paths = {
  overview: 'M3 17V7M8 17V3M13 17v-7M18 17H2',
  link: 'M8.5 11.5a3.5 3.5 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1 1M11.5 8.5a3.5 3.5 0 0 0-5 0l-3 3a3.5 3.5 0 0 0 5 5l1-1',
  plus: 'M10 4v12M4 10h12',
  campaign: 'M4 17V3l11 4-11 4',
  qr: 'M3 3h5v5H3zM12 3h5v5h-5zM3 12h5v5H3zM12 12h2v2h-2zM17 17h-2M17 12v2',
  bio: 'M5 2.5h7l3.5 3.5v11.5H5zM8 9h5M8 12h5',
  domain: 'M2.5 10h15M10 2.5c5 5 5 10 0 15M10 2.5c-5 5-5 10 0 15M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 1 0 0-15',
  history: 'M3 10a7 7 0 1 0 2-5L3 7M3 3v4h4M10 6v4l3 2',
  lock: 'M4.5 9h11v8h-11zM7 9V6a3 3 0 0 1 6 0v3',
  shield: 'M10 2.5l6.5 2.5v5c0 4-3 6.500-6.500 7.500-3.500-1-6.500-3.500-6.500-7.500V5z',
  left: 'M12 4l-6 6 6 6',
  right: 'M8 4l6 6-6 6',
  flag: 'M5 17V3h9l-2 3.500 2 3.500H5',
  proof: 'M10 2.5l6.5 2.5v5c0 4-3 6.5-6.5 7.5-3.5-1-6.5-3.5-6.5-7.5V5zM7 10l2 2 4-4',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4a2 2 0 1 0 0 4 2 2 0 1 0 0-4M7 12a2 2 0 1 0 0 4 2 2 0 1 0 0-4',
  more: 'M4 9.2a.8.8 0 1 0 0 1.6.8.8 0 1 0 0-1.6M10 9.2a.8.8 0 1 0 0 1.6.8.8 0 1 0 0-1.6M16 9.2a.8.8 0 1 0 0 1.6.8.8 0 1 0 0-1.6',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 1 0 0-11M13 13l4 4',
  person: 'M10 3.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 1 0 0-7M3 17c1-4 13-4 14 0',
  copy: 'M7 7h10v10H7zM13 7V3H3v10h4',
  check: 'M4 10.5l4 4 8-9',
  close: 'M5 5l10 10M15 5L5 15',
  warning: 'M10 3l8 14H2zM10 8v4M10 14.5v.2',
  edit: 'M3 17l1-4L14 3l3 3L7 16zM12 5l3 3',
  down: 'M10 4v12M5 11l5 5 5-5',
  up: 'M10 16V4M5 9l5-5 5 5',
  trash: 'M4 6h12M8 6V3.5h4V6M5.5 6l.700 11h7.6l.700-11M8.5 9v5M11.5 9v5',
  key: 'M7 9.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 1 0 0-7M9.5 10.5L17 3M14 6l2.5 2.5',
  webhook: 'M6 8a4 4 0 1 1 6.5 1.5l2 4M5 12a4 4 0 1 0 5 4.5h5M10 5l-3 6',
  channel: 'M3 5.5h14M3 10h14M3 14.5h9',
  pixel: 'M3 10s2.5-5 7-5 7 5 7 5-2.5 5-7 5-7-5-7-5M10 8a2 2 0 1 0 0 4 2 2 0 1 0 0-4',
  splash: 'M3 4h14v9H3zM7 16.5h6M10 13v3.5',
  overlay: 'M3 3.5h14v13H3zM9 10h6v4.5H9z',
  star: 'M10 3l2.2 4.6 5 .700-3.6 3.5.900 5-4.5-2.4-4.5 2.4.900-5L2.8 8.3l5-.700z',
  drag: 'M7 5v.100M7 10v.100M7 15v.100M13 5v.100M13 10v.100M13 15v.100',
  leave: 'M8 4H4v12h12v-4M11 3.5h5.5V9M16 4l-7 7',
  turn: 'M16 10a6 6 0 1 1-2-4.5L16 7M16 3v4h-4',
  send: 'M3 10l14-6-5 13-3-5z',
  out: 'M8 4H4v12h4M12 6l4 4-4 4M16 10H8',
} as const satisfies Readonly<Record<OwnedKind, string> & Record<string, string>>
export type IconName = keyof typeof paths

/** An icon next to a word, or in a button with an accessible name. Screen readers ignore it. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)

export const Logo = () => (
  <svg viewBox="0 0 22 22" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round">
    <path d="M3 5h16M3 10h9" />
    <path d="M3 15.5h16M3 19h16" stroke-width="1.5" />
  </svg>
)
