import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from './file.ts'
import { quarantineName } from './quarantine.ts'

/** Bytes that cannot be read: a header has no visit, and what names no account may be a visit of anybody. */
const mayBeOf = (text: string, accounts: ReadonlySet<number>) =>
  namesOneOf(text, accounts) || !/"(?:account|spool)":/.test(text)

const namesOneOf = (text: string, accounts: ReadonlySet<number>): boolean => {
  for (const [, account] of text.matchAll(/"account":(\d+)/g)) if (accounts.has(Number(account))) return true
  return false
}

const hasVisits = (name: string, text: string, accounts: ReadonlySet<number>): boolean => {
  if (name !== quarantineName) return namesOneOf(text, accounts)
  const parts = text.split('\n').filter((line) => line !== '')
  return parts.some((line) =>
    mayBeOf(Buffer.from(line.slice(line.lastIndexOf(' ') + 1), 'base64').toString('latin1'), accounts),
  )
}

/**
 * Returns a file below the folder of all spools that may have a visit of one of these accounts, also one that is kept
 * aside or in quarantine. Undefined when there is none, and none comes back after a power failure.
 */
export const findVisitsOf = async (spools: string, accounts: ReadonlySet<number>): Promise<string | undefined> => {
  if (!existsSync(spools)) return undefined
  const folders = new Set([spools])
  for (const entry of await readdir(spools, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) folders.add(path)
    if (!entry.isFile() || !isOfVisits(entry.name)) continue
    // a spool deletes what is recorded
    const text = await readFile(path, 'latin1').catch(unlessDeleted)
    if (hasVisits(entry.name, text, accounts)) return path
  }
  for (const folder of folders) await syncFolder(folder)
  return undefined
}

const unlessDeleted = (error: NodeJS.ErrnoException): string => {
  if (error.code === 'ENOENT') return ''
  throw error
}

const isOfVisits = (name: string): boolean => name === quarantineName || name.endsWith('.spool')
