import { readFileSync } from 'node:fs'
import { expect } from 'chai'

const main = new URL('../../src/main.ts', import.meta.url)
/** The addresses of imports that are not only for types; `await import` counts. */
const imported = /^(?:import|export)(?! type\b)[^'"]*?\bfrom '([^']+)'|\bimport\('(\.[^']+)'\)/gm

/** Returns the packages that a start loads before it does anything: they are imported by what `main.ts` reaches. */
const packagesOf = (entry: URL) => {
  const seen = new Set<string>()
  const packages = new Map<string, string>()
  const visit = (file: URL) => {
    if (seen.has(file.href)) return
    seen.add(file.href)
    for (const [, name, own] of readFileSync(file, 'utf8').matchAll(imported)) {
      const from = name ?? own ?? ''
      if (from.startsWith('.')) visit(new URL(from, file))
      else if (!from.startsWith('node:')) packages.set(from, file.pathname)
    }
  }
  visit(entry)
  return { packages, files: seen.size }
}

describe('the modules that a start loads', () => {
  it('is without the clients of engines and mail servers that the settings do not name', () => {
    const { packages, files } = packagesOf(main)
    expect(files).to.be.greaterThan(200)
    expect([...packages.keys()]).to.include.members(['koa', 'knex', 'zod'])
    for (const name of ['kafkajs', '@eventstore/db-client', 'nodemailer'])
      expect(packages.get(name), name).to.equal(undefined)
  })
})
