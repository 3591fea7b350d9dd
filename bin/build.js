// `npm run build`: builds `dist`, also when it is up to date.
import { readFileSync } from 'node:fs'
import { build } from './checkout.js'

try {
  const root = new URL('../', import.meta.url)
  build(root)
  console.log(readFileSync(new URL('dist/web/sizes.txt', root), 'utf8').trimEnd())
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
