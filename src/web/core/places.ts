import { places } from '../navigation.ts'

/** Returns the screen of a resource. Pixels and keys have none of their own. */
export const placeOf = ({ type, id }: { readonly type: string; readonly id: number }): string | undefined => {
  const found = places.find(({ of }) => of === type)
  return found && `${found.path}/${id}`
}

/** Returns the path of the API of the resource that a screen shows; undefined for a screen of no single one. */
export const resourceAt = (path: string): string | undefined => {
  const [, screen, id] = /^(\/[a-z]+)\/(\d+)$/.exec(path) ?? []
  const found = places.find((place) => place.path === screen)
  return found?.of && `/api/${found.of}/${id}`
}
