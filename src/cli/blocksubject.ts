import type { Ledger } from '../app/ledger.ts'
import type { BlockCommand } from '../commands/block.ts'
import { hostKey, readHost, readPattern } from '../lib/blocklist.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { readShortAddress } from '../lib/shortaddress.ts'
import { domainsChanged } from '../queries/domain.ts'
import type { Reader } from '../queries/reader.ts'
import { findAddressed, findAddressedById } from '../queries/shortaddress.ts'
import { BadCommand } from './cli.ts'

/** What a command blocks or unblocks, and how a person calls it. */
export interface BlockSubject extends Pick<BlockCommand, 'kind' | 'value'> {
  readonly called: string
}
/** Reads an argument without the database, and returns a function that finds what it names. Throws `BadCommand`. */
type Read = (text: string) => (ledger: Pick<Ledger, 'reader' | 'config'>, options: Options) => Promise<BlockSubject>
interface Options {
  /** a block of something that was deleted since can be ended */
  readonly mustExist: boolean
}

const found = (subject: BlockSubject) => async () => subject

/** An address with a scheme is cut down to its host, if it has no path. */
const hostOf = (text: string): string => {
  const host = readHost(text.replace(/^https?:\/\//i, '').replace(/\/$/, ''))
  if (host === undefined)
    throw new BadCommand(`${JSON.stringify(text)} is not a host: write one without port and path, such as evil.example`)
  return host
}

const host: Read = (text) => {
  const value = hostOf(text)
  return found({ kind: 'host', value, called: `The host ${value} and every host below it` })
}

const pattern: Read = (text) => {
  const value = readPattern(text)
  if (value === undefined)
    throw new BadCommand(
      `${JSON.stringify(text)} is not a pattern: write a host and a path with *, such as sites.example/view/evil*`,
    )
  return found({ kind: 'pattern', value, called: `Destinations like ${value}` })
}

/**
 * Returns the branded domain at a host: the one that serves it, since any account may have a pending one there, then one that is not deleted.
 * `named` compares a hostname.
 */
const branded = async (reader: Reader, named: (hostname: string) => boolean) => {
  const found = (await domainsChanged(reader, 0n)).filter(({ domain }) => named(new URL(domain).hostname))
  return found.find(({ live }) => live) ?? found.find(({ deleted }) => !deleted) ?? found[0]
}

const domain: Read = (text) => {
  const value = hostOf(text)
  return async ({ reader }) => {
    const known = await branded(reader, (hostname) => hostKey(hostname) === value)
    const owner = known ? `of account ${known.account}` : 'which no account has now'
    return { kind: 'domain', value, called: `The branded domain ${value}, ${owner},` }
  }
}

/** Returns the id of the branded domain at a host; null for the service's own. */
const domainAt = async ({ reader, config }: Pick<Ledger, 'reader' | 'config'>, given: string | undefined) => {
  const name = given?.replace(/:\d+$/, '')
  if (name === undefined || name === new URL(config.BASE_URL ?? 'http://localhost').hostname) return null
  const known = await branded(reader, (hostname) => hostname === name)
  if (!known) throw new OperatorError(`${name} is neither the host of BASE_URL nor a branded domain`)
  return known.id
}

const link: Read = (text) => {
  const [, prefix, id] = /^(id|bio):([1-9]\d{0,14})$/i.exec(text) ?? []
  const address = id === undefined ? readShortAddress(text) : undefined
  if (id === undefined && address?.kind !== 'alias')
    throw new BadCommand(`${JSON.stringify(text)} is not a short link: write its address, its alias, or id:7`)
  return async (ledger, { mustExist }) => {
    const { reader } = ledger
    const named = prefix?.toLowerCase() === 'bio' ? 'bio' : 'link'
    const addressed = address
      ? await findAddressed(reader, await domainAt(ledger, address.host), address)
      : await findAddressedById(reader, named, Number(id))
    if (!addressed && id !== undefined && !mustExist)
      return { kind: named, value: id, called: `The deleted ${nameOf[named]} ${id}` }
    if (!addressed || (addressed.kind !== 'link' && addressed.kind !== 'bio'))
      throw new OperatorError(`there is no short link ${text}`)
    const { kind, account, name } = addressed
    return { kind, value: String(addressed.id), called: `The ${nameOf[kind]} /${name} of account ${account}` }
  }
}
const nameOf = { link: 'link', bio: 'bio page' } as const

/** By the word on the command line. */
export const blockSubjects = { link, host, pattern, domain } as const satisfies Readonly<Record<string, Read>>
