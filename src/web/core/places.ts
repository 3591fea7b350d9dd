/** The screens of resources, by the kinds that the API names. Pixels and keys have none of their own. */
const screens: Readonly<Record<string, string>> = {
  url: '/links',
  qr: '/qr',
  campaign: '/campaigns',
  channel: '/channels',
  domain: '/domains',
  splash: '/splash',
  overlay: '/overlays',
  bio: '/bio',
  webhook: '/webhooks',
}

/** Returns the screen of a resource, where there is one. */
export const placeOf = ({ type, id }: { readonly type: string; readonly id: number }): string | undefined =>
  screens[type] && `${screens[type]}/${id}`

/** Returns the path of the API of the resource that a screen shows; undefined for a screen of no single one. */
export const resourceAt = (path: string): string | undefined => {
  const [, screen, id] = /^(\/[a-z]+)\/(\d+)$/.exec(path) ?? []
  const [kind] = Object.entries(screens).find(([, one]) => one === screen) ?? []
  return kind && `/api/${kind}/${id}`
}
