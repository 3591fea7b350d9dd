#!/usr/bin/env node
// The command `linkledger`: not a file that the compiler writes, so that it exists and is executable before the first
// build. An installed package contains only the build; a checkout also has the sources.
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)

/**
 * A build takes seconds, and a service that cannot listen needs none. Everything else that is wrong with the settings
 * is said after it.
 */
const requireFreePort = () => {
  const { PORT = '3000', HOST = '127.0.0.1' } = process.env
  if (!/^\d+$/.test(PORT) || PORT === '0') return
  return /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      const server = createServer()
      server.once('error', (/** @type {NodeJS.ErrnoException} */ { code }) => {
        if (code !== 'EADDRINUSE') return resolve()
        const message = `PORT: ${PORT} is in use on ${HOST}: stop the program that uses it, or set another port`
        reject(Object.assign(new Error(message), { name: 'CannotStart' }))
      })
      server.listen(Number(PORT), HOST, () => server.close(() => resolve()))
    })
  )
}

const start = async () => {
  if (!existsSync(new URL('src', root))) return import(new URL('dist/main.js', root).href)
  const { entryOf, isBuilt } = await import('./checkout.js')
  const command = process.argv[2] ?? 'start'
  if (command === 'start' && !isBuilt(fileURLToPath(root))) await requireFreePort()
  return import(entryOf(root, { say: console.error }))
}

start().catch((/** @type {Error} */ error) => {
  console.error(error.name === 'CannotStart' ? `linkledger: ${error.message}` : error)
  process.exitCode = 1
})
