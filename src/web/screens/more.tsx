import { href } from '../core/router.ts'
import { t } from '../core/texts.ts'
import { ownPlaces } from '../navigation.ts'
import { Icon } from '../parts/icon.tsx'
import { Head } from '../parts/section.tsx'

/** The places that the bar of a phone has no room for. */
export const More = () => {
  const texts = t()
  return (
    <>
      <Head title={texts.nav.more} />
      <ul class="places">
        {ownPlaces()
          .filter(({ onPhone }) => !onPhone)
          .map(({ path, name, icon }) => (
            <li key={path}>
              <a href={href(path)}>
                <Icon name={icon} />
                {name(texts)}
              </a>
            </li>
          ))}
      </ul>
    </>
  )
}
