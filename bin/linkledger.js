#!/usr/bin/env node
// The command `linkledger`: not a file that the compiler writes, so that it exists and is executable before the first
// build. An installed package contains only the build; a checkout also has the sources.
import { existsSync } from 'node:fs'

const root = new URL('../', import.meta.url)

const start = async () => {
  if (!existsSync(new URL('src', root))) return import(new URL('dist/main.js', root).href)
  const { entryOf } = await import('./checkout.js')
  return import(entryOf(root, { say: console.error }))
}

start().catch((/** @type {Error} */ error) => {
  console.error(error.name === 'CannotStart' ? `linkledger: ${error.message}` : error)
  process.exitCode = 1
})
