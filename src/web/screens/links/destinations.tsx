import { withoutScheme } from '../../core/address.ts'
import type { LinkDetails } from '../../../http/links/contract/link.ts'
import { t } from '../../core/alltexts.ts'
import { Section } from '../../parts/section.tsx'
import { nameOfRule, rulesOf } from './editor/rules.ts'

/** Where visitors of a link go, in the order in which it is decided. */
export const Destinations = ({ details }: { readonly details: LinkDetails }) => {
  const texts = t().link
  const rows = rulesOf(details).map((rule) => [nameOfRule(rule), rule.url] as const)
  const last =
    details.variants.length > 0
      ? details.variants.map(({ url, weight }) => [`${t().editor.weight} ${weight}`, url] as const)
      : [[texts.otherwise, details.longurl] as const]
  return (
    <Section title={texts.destinations} tools={<a href="?sheet=edit">{texts.edit}</a>}>
      <ol class="feed">
        {[...rows, ...last].map(([name, url], n) => (
          <li key={`${n} ${name}`}>
            <span class="quiet">{n + 1}</span>
            <div>
              <strong>{name}</strong>
              <span class="from cut" dir="auto" title={url}>
                {withoutScheme(url)}
              </span>
            </div>
          </li>
        ))}
      </ol>
    </Section>
  )
}
