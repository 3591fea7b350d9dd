import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { withoutScheme } from '../core/address.ts'
import { past } from '../core/past.ts'
import { t } from '../core/texts.ts'
import { say } from '../core/toasts.ts'
import { Icon, type IconName } from './icon.tsx'

/** Drawings on buttons that change something. */
const changing: ReadonlySet<IconName> = new Set(['edit', 'plus', 'send', 'trash', 'turn'])

interface ButtonProps {
  readonly children: ComponentChildren
  readonly kind?: 'primary' | 'plain' | 'danger' | undefined
  readonly icon?: IconName
  readonly type?: 'button' | 'submit'
  readonly form?: string
  /** It is doing what was asked: it keeps its width, and cannot be pressed again. */
  readonly busy?: boolean
  readonly disabled?: boolean
  /**
   * It changes something, so it is off in the past, and says why. By default, that is true of primary and dangerous
   * buttons, of those that send a form, and of those with a drawing of a change.
   */
  readonly writes?: boolean
  readonly onClick?: () => void
}

export const Button = (props: ButtonProps) => {
  const { children, kind, icon, type = 'button', form, busy, disabled, onClick } = props
  const isChange = kind === 'primary' || kind === 'danger' || type === 'submit' || (icon && changing.has(icon))
  const { writes = isChange } = props
  const isOff = writes && past.value !== undefined
  return (
    <button
      class={`button${kind ? ` ${kind}` : ''}${busy ? ' busy' : ''}`}
      type={type}
      form={form}
      aria-busy={busy || undefined}
      disabled={disabled === true || isOff}
      title={isOff ? t().past.readOnlyWhy : undefined}
      onClick={() => !busy && onClick?.()}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

interface WriteLinkProps {
  readonly href: string
  readonly kind?: 'primary' | 'plain'
  /** beside other classes */
  readonly className?: string
  readonly children: ComponentChildren
}

/** A link that leads to a change. In the past it is a button that is off, and says why. */
export const WriteLink = ({ href, kind, className = '', children }: WriteLinkProps) => {
  const look = `button${kind ? ` ${kind}` : ''} ${className}`.trim()
  return past.value ? (
    <button class={look} type="button" disabled title={t().past.readOnlyWhy}>
      {children}
    </button>
  ) : (
    <a class={look} href={href}>
      {children}
    </a>
  )
}

interface IconButtonProps {
  /** its name, also shown when the pointer rests on it */
  readonly label: string
  readonly icon: IconName
  /** it changes something, so it is off in the past; by default, when its drawing is that of a change */
  readonly writes?: boolean
  readonly onClick: () => void
}

export const IconButton = ({ label, icon, writes = changing.has(icon), onClick }: IconButtonProps) => {
  const isOff = writes && past.value !== undefined
  return (
    <button
      class="button plain only-icon"
      type="button"
      aria-label={label}
      title={isOff ? t().past.readOnlyWhy : label}
      disabled={isOff}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  )
}

/** Fields that can be changed now, and only read in the past. */
export const Writable = ({ children }: { readonly children: ComponentChildren }) => {
  const isOff = past.value !== undefined
  return (
    <fieldset class="writable" disabled={isOff} title={isOff ? t().past.readOnlyWhy : undefined}>
      {children}
    </fieldset>
  )
}

/** Copies a text and shows a message. Without permission, it selects nothing and shows how to copy it. */
export const CopyButton = ({
  text,
  label,
  quiet,
}: {
  readonly text: string
  readonly label: string
  /** says that it was copied, but not what: it is a secret */
  readonly quiet?: boolean
}) => {
  const [done, setDone] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
      setTimeout(() => setDone(false), 2000)
      say(quiet ? t().toasts.copied : `${t().toasts.copied} ${withoutScheme(text)}`)
    } catch {
      say(t().toasts.notCopied, { failed: true })
    }
  }
  return <IconButton label={label} icon={done ? 'check' : 'copy'} onClick={() => void copy()} />
}
