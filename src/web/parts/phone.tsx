import type { ComponentChildren } from 'preact'
import { contrast } from '../../qr/color.ts'
import { t } from '../core/alltexts.ts'
import { fill } from '../core/texts.ts'
import { Icon } from './icon.tsx'

interface PhoneProps {
  /** what is shown, for those who do not see it */
  readonly label: string
  readonly class: string
  /** the owner's color, `#rrggbb` */
  readonly color?: string | undefined
  readonly children: ComponentChildren
}

/** Returns white or black, whichever is easier to read on a color. */
const readableOn = (color: string): string =>
  contrast(color, '#ffffff') >= contrast(color, '#000000') ? '#ffffff' : '#000000'

/** A page as visitors see it, at the width of a phone. Nothing in it can be pressed: it is a picture. */
export const Phone = ({ label, class: name, color, children }: PhoneProps) => {
  const style: Readonly<Record<string, string>> =
    color === undefined ? {} : { '--owner': color, '--on-owner': readableOn(color) }
  return (
    <figure class="phone-preview">
      <figcaption>{t().editors.preview}</figcaption>
      <div class={`phone ${name}`} role="group" aria-label={label} style={style}>
        {children}
      </div>
    </figure>
  )
}

/** Returns the host of an address, as pages show it; nothing while it is not one. */
export const hostIn = (address: string): string => {
  try {
    return new URL(/^https?:\/\//i.test(address) ? address : `https://${address}`).host.replace(/^www\./, '')
  } catch {
    return ''
  }
}

/** The place of a picture. The dashboard loads nothing from other hosts, so it says where the picture comes from. */
export const PicturePlace = ({ address, class: name }: { readonly address: string; readonly class: string }) => {
  const host = hostIn(address)
  return (
    <span class={`picture-place ${name}`} title={fill(t().editors.pictureFrom, { host })}>
      <Icon name="pixel" />
      <span class="cut">{host}</span>
    </span>
  )
}
