import { href } from '../core/router.ts'
import { t } from '../core/texts.ts'
import { approvals } from '../core/approvals.ts'
import { account, role } from '../core/session.ts'
import { placesOf } from '../navigation.ts'
import { Icon } from '../parts/icon.tsx'
import { Head } from '../parts/section.tsx'

/** The places that the bar of a phone has no room for. */
export const More = () => {
  const texts = t()
  return (
    <>
      <Head title={texts.nav.more} />
      <ul class="places">
        {placesOf(account.value, role.value, approvals.value.guarded)
          .filter(({ onPhone }) => !onPhone)
          .map(({ path, name, icon }) => (
            <li key={path}>
              <a href={href(path)}>
                <Icon name={icon} />
                {texts.nav[name]}
              </a>
            </li>
          ))}
      </ul>
    </>
  )
}
