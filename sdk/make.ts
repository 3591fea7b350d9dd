import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { routes } from '../src/http/routes.ts'
import { openApi } from '../src/http/docs/openapi.ts'
import { type ApiDocument, declarationsOf } from './declarations.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Makes what the package of the client has: its types, from the description of the API, and its JavaScript. */
export const makeClient = () => {
  // as clients get it: JSON, in which what is undefined is not there
  const document = JSON.parse(JSON.stringify(openApi({ routes, version: '' }))) as ApiDocument
  writeFileSync(pathOf('openapi.d.ts'), declarationsOf(document))
  const compiler = pathOf('../node_modules/typescript/bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', pathOf('.')], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the client could not be compiled\n${stdout}${stderr}`)
}
