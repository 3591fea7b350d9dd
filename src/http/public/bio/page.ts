import { bioLook, BioTheme } from '../../../events/pages/bio.ts'
import { knownIn } from '../../../events/openenum.ts'
import type { BioTarget } from '../../../queries/links/target.ts'
import { iconOf } from './icons.ts'
import { sourceOf } from '../page/csp.ts'
import { hostOf } from '../page/destination.ts'
import { html } from '../page/html.ts'
import { metaTags } from '../interstitial/parts.ts'
import type { WritePage } from '../page/page.ts'
import { bioStyle } from '../styles/bio.ts'
import { listStyle } from '../styles/list.ts'

/** Returns the first letters of the first and the last word, which stand in for a missing picture. */
export const initialsOf = (name: string): string => {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? []
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  return ends
    .map((word) => /^.\p{M}*/u.exec(word ?? '')?.[0] ?? '')
    .join('')
    .toLocaleUpperCase()
}

/** The address by which a visitor follows an entry, so that the click is counted. */
const entryAddress = (alias: string, entry: number) => `/${alias}/${entry}`

/** Returns a bio page. It loads its picture from the picture's own host, and nothing else from any other host. */
export const bioPage =
  ({ name, alias, title, description, avatar, links, theme, color }: BioTarget): WritePage =>
  ({ operator }) => {
    const heading = title || name
    const look = knownIn(BioTheme, theme ?? bioLook.theme) ?? bioLook.theme
    return {
      status: 200,
      title: heading,
      styles: [listStyle, bioStyle(look, color ?? bioLook.color)],
      ...(avatar && { directives: { 'img-src': [sourceOf(avatar)] } }),
      head: html`${metaTags({ title: heading, description, image: avatar }, 'summary')}
        <meta property="og:site_name" content="${operator.name}" />`,
      // the language and the writing direction of the owner's text are unknown
      content: html`<div class="person" lang="">
          <span class="avatar" aria-hidden="true"
            ><span>${initialsOf(heading)}</span>${avatar && html`<img src="${avatar}" alt="" />`}</span
          >
          <h1 dir="auto">${heading}</h1>
        </div>
        ${description && html`<p class="owner-text" dir="auto" lang="">${description}</p>`}
        ${
          links.length > 0
            ? html`<ul class="links" lang="">
                ${links.map(
                  ({ id, title, url }) =>
                    html`<li>
                      <a href="${entryAddress(alias, id)}" rel="noopener nofollow ugc"
                        >${iconOf(url)}<span
                          ><b dir="auto">${title}</b>
                          <small dir="ltr">${hostOf(url).replace(/^www\./, '')}</small></span
                        ></a
                      >
                    </li>`,
                )}
              </ul>`
            : ''
        }`,
    }
  }
