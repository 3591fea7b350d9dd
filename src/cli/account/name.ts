import type { AccountName } from '../../queries/accounts/account.ts'
import { BadCommand } from '../cli.ts'

/** What names an account on the command line, for the help of an argument. */
export const accountForms = 'id:7, ann@example.com or @ann (username)'

/**
 * Reads the name of an account. A word without any of the marks is a username only if it cannot be an id: old accounts
 * may have usernames of digits, and a command must never change another account than the one that was meant. Throws
 * `BadCommand`.
 */
export const accountName = (text: string): AccountName => {
  const name = text.toLowerCase()
  const [, id] = /^id:([1-9]\d{0,14})$/.exec(name) ?? []
  if (id !== undefined) return { id: Number(id) }
  const [, username] = /^@([a-z0-9_-]{3,32})$/.exec(name) ?? []
  if (username !== undefined) return { username }
  if (/^[^@]+@[^@]+$/.test(name)) return { email: name }
  if (/^\d+$/.test(name))
    throw new BadCommand(`${text} may be an id or a username: write id:${text} for the id, @${text} for the username`)
  if (/^[a-z0-9_-]{3,32}$/.test(name)) return { username: name }
  throw new BadCommand(`${JSON.stringify(text)} names no account: write ${accountForms}`)
}
