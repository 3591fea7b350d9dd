import type { LinkFields } from '../../events/links/link.ts'

const byName = (targets: LinkFields['location']) =>
  Object.fromEntries(targets.map(({ name, url }) => [name.toLowerCase(), url]))

/** Returns the rules of a link by what they match, as the API shows them. */
export const rulesByName = ({
  location,
  device,
  browser,
  language,
}: Pick<LinkFields, 'location' | 'device' | 'browser' | 'language'>) => ({
  location: byName(location),
  device: byName(device),
  browser: byName(browser),
  language: byName(language),
})
