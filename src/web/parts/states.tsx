import type { ComponentChildren } from 'preact'
import type { ApiError } from '../core/api.ts'
import { t } from '../core/texts.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

interface NoticeProps {
  readonly kind: 'bad' | 'warn' | 'good'
  readonly icon?: IconName
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** Says what happened, what still works, and what to do. */
export const Notice = ({ kind, icon = 'warning', action, children }: NoticeProps) => (
  <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    <Icon name={icon} />
    <p>{children}</p>
    {action}
  </div>
)

/** Something could not be read. What is on the screen stays, and so do the links themselves. */
export const Failed = ({ error, reload }: { readonly error: ApiError; readonly reload: () => void }) => (
  <Notice kind="bad" action={<Button onClick={reload}>{t().actions.again}</Button>}>
    {error.message} {error.status === 0 || error.status >= 500 ? t().errors.linksWork : ''}
  </Notice>
)

interface EmptyProps {
  readonly title: string
  readonly text: string
  readonly action?: ComponentChildren
}

/** There is nothing, and this is what to do about it. */
export const Empty = ({ title, text, action }: EmptyProps) => (
  <div class="empty">
    <strong>{title}</strong>
    <p>{text}</p>
    {action && <p>{action}</p>}
  </div>
)

const widths = ['82%', '64%', '71%', '40%', '52%', '33%', '47%', '28%']

/** Rows that are being loaded. They are as high as real ones, so that nothing moves when those come. */
export const Skeleton = ({ rows, label }: { readonly rows: number; readonly label: string }) => (
  <ul class="skeleton" aria-busy="true" aria-label={label}>
    {Array.from({ length: rows }, (_, n) => (
      <li key={n}>
        <span style={{ '--share': widths[n % widths.length] ?? '50%' }} />
      </li>
    ))}
  </ul>
)
