import { t } from '../../../core/alltexts.ts'
import { isColor } from '../../../parts/color.tsx'
import { hostIn, Phone } from '../../../parts/phone.tsx'
import type { Draft } from './draft.ts'

/** Returns the first letters of the first and the last word: they are in place of a picture, and below it. */
const initialsOf = (name: string): string => {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? []
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  return ends
    .map((word) => /^.\p{M}*/u.exec(word ?? '')?.[0] ?? '')
    .join('')
    .toLocaleUpperCase()
}

const globe =
  'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 1 0 0-17M3.5 12h17M12 3.5c3.3 3 3.3 14 0 17M12 3.5c-3.3 3-3.3 14 0 17'

/** The page as visitors see it. */
export const Preview = ({ draft }: { readonly draft: Draft }) => {
  const texts = t().bios
  const heading = draft.title || draft.name || texts.one
  const color = isColor(draft.color) ? draft.color : '#1d4ed8'
  return (
    <Phone label={texts.one} class={`bio-preview theme-${draft.theme}`} color={color}>
      <div class="p-main">
        <div class="p-person">
          <span class="p-avatar" title={draft.avatar ? t().editors.pictureHint : undefined}>
            {initialsOf(heading)}
          </span>
          <p class="p-title" dir="auto">
            {heading}
          </p>
        </div>
        {draft.description && (
          <p class="owner-text" dir="auto">
            {draft.description}
          </p>
        )}
        <ul class="p-links">
          {draft.entries
            .filter(({ title, url }) => title || url)
            .map(({ key, title, url }) => (
              <li key={key}>
                <svg viewBox="0 0 24 24" aria-hidden="true">
                  <path d={globe} />
                </svg>
                <span>
                  <b dir="auto">{title || '…'}</b>
                  <small>{hostIn(url)}</small>
                </span>
              </li>
            ))}
        </ul>
      </div>
    </Phone>
  )
}
