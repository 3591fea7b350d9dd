import { existsSync, readFileSync } from 'node:fs'

/** Returns the version in the nearest package.json above this file: the build may be at any depth below it. */
export const version = (): string => {
  let file = new URL('./package.json', import.meta.url)
  while (!existsSync(file) && file.pathname !== '/package.json') file = new URL('../package.json', file)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
