import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Returns the lines of the list below a heading of a page. With `UPDATE_DOCS`, the page gets those that were found.
 */
export const linesBelow = (page: string, heading: string, found: readonly string[]): readonly string[] => {
  const path = fileURLToPath(new URL(`../../${page}`, import.meta.url))
  const text = readFileSync(path, 'utf8')
  const section = text.split(/^(?=#+ )/m).find((part) => part.startsWith(`## ${heading}\n`)) ?? ''
  const lines = section.split('\n')
  const isLine = (line: string) => /^ *- /.test(line)
  if (!process.env['UPDATE_DOCS']) return lines.filter(isLine)
  const words = lines
    .filter((line) => !isLine(line))
    .join('\n')
    .trimEnd()
  const updated = text.replace(section, () => `${words}\n\n${found.join('\n')}\n\n`)
  writeFileSync(path, `${updated.trimEnd()}\n`)
  return found
}
