// `npm run build`: builds `dist`, also when it is up to date.
import { build } from './checkout.js'

try {
  build(new URL('../', import.meta.url))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
