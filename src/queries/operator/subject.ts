import type { z } from 'zod'
import type { BlockKind } from '../../events/operator/block.ts'
import { shownAlias } from '../../lib/short/alias.ts'
import { hostKey, readHost, readPattern } from '../../lib/blocklist.ts'
import { OperatorError } from '../../lib/operatorerror.ts'
import { problem, type Problem, type What } from '../../lib/problems/problem.ts'
import { readShortAddress } from '../../lib/short/address.ts'
import { domainsChanged } from '../domains/domain.ts'
import type { Reader } from '../reader.ts'
import { findAddressed, findAddressedById } from './shortaddress.ts'

/** What an operator blocks or unblocks, and how a person calls it. */
export interface BlockSubject {
  readonly kind: z.output<typeof BlockKind>
  /** in the one spelling that it is compared in */
  readonly value: string
  readonly called: string
}
/** What an operator has written names nothing that can be blocked. The message says what would be right. */
export class BadSubject extends OperatorError {
  override readonly name = 'BadSubject'
  readonly problem: Problem
  constructor(what: What<'not_blockable'>, input: string, message: string) {
    super(message)
    this.problem = problem('not_blockable', { what, input })
  }
}
/** Where what is blocked is looked for. */
interface Places {
  readonly reader: Reader
  /** the address that short links start with; undefined where it is not known */
  readonly baseUrl: string | undefined
}
/**
 * Reads what an operator has written without the database, and returns a function that finds what it names. Throws
 * `BadSubject`.
 */
type Read = (text: string) => (places: Places, options: Options) => Promise<BlockSubject>
interface Options {
  /** a block of something that was deleted since can be ended */
  readonly mustExist: boolean
}

const found = (subject: BlockSubject) => async () => subject

/** An address with a scheme is cut down to its host, if it has no path. */
const hostOf = (text: string): string => {
  const host = readHost(text.replace(/^https?:\/\//i, '').replace(/\/$/, ''))
  if (host === undefined)
    throw new BadSubject(
      'host',
      text,
      `${JSON.stringify(text)} is not a host: write one without port and path, such as evil.example`,
    )
  return host
}

const host: Read = (text) => {
  const value = hostOf(text)
  return found({ kind: 'host', value, called: `The host ${value} and every host below it` })
}

const pattern: Read = (text) => {
  const value = readPattern(text)
  if (value === undefined)
    throw new BadSubject(
      'pattern',
      text,
      `${JSON.stringify(text)} is not a pattern: write a host and a path with *, such as sites.example/view/evil*`,
    )
  return found({ kind: 'pattern', value, called: `Destinations like ${value}` })
}

/**
 * Returns the branded domain at a host: the one that serves it, since any account may have a pending one there, then
 * one that is not deleted. `named` compares a hostname.
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

/** Returns the branded domain at a host; null for the service's own. */
const domainAt = async ({ reader, baseUrl }: Places, given: string | undefined) => {
  const name = given?.replace(/:\d+$/, '')
  if (name === undefined || name === new URL(baseUrl ?? 'http://localhost').hostname) return null
  const known = await branded(reader, (hostname) => hostname === name)
  if (!known) throw new BadSubject('foreign', name, `${name} is neither the host of BASE_URL nor a branded domain`)
  return known
}

/** Returns what has a short address, as its domain compares it. */
const findNamed = async (places: Places, text: string, host: string | undefined) => {
  const domain = await domainAt(places, host)
  const address = readShortAddress(text, () => domain?.exact === true)
  return address && findAddressed(places.reader, domain?.id ?? null, address)
}

const link: Read = (text) => {
  const [, prefix, id] = /^(id|bio|campaign):([1-9]\d{0,14})$/i.exec(text) ?? []
  // any path may be an alias on some domains
  const address =
    id === undefined ? (readShortAddress(text) ?? readShortAddress(text, (host) => host !== undefined)) : undefined
  if (id === undefined && (!address || (address.kind === 'qr' && address.host === undefined)))
    throw new BadSubject(
      'link',
      text,
      `${JSON.stringify(text)} is not a short link: write its address, its alias, or id:7`,
    )
  return async (places, { mustExist }) => {
    const { reader } = places
    const named = prefixes[prefix?.toLowerCase() ?? 'id'] ?? 'link'
    const addressed = address
      ? await findNamed(places, text, address.host)
      : await findAddressedById(reader, named, Number(id))
    if (!addressed && id !== undefined && !mustExist)
      return { kind: named, value: id, called: `The deleted ${nameOf[named]} ${id}` }
    if (!addressed || addressed.kind === 'qr') throw new BadSubject('unknown', text, `there is no short link ${text}`)
    const { kind, account, name } = addressed
    const path = kind === 'campaign' ? `/r/${name}` : `/${shownAlias(name)}`
    return { kind, value: String(addressed.id), called: `The ${nameOf[kind]} ${path} of account ${account}` }
  }
}
const nameOf = { link: 'link', bio: 'bio page', campaign: 'campaign' } as const
const prefixes: Readonly<Record<string, keyof typeof nameOf>> = { id: 'link', bio: 'bio', campaign: 'campaign' }

/** By the word of an operator for it. */
export const blockSubjects = { link, host, pattern, domain } as const satisfies Readonly<Record<string, Read>>
