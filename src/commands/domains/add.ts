import { randomUUID } from 'node:crypto'
import type { StoredDomainFields } from '../../events/domains/domain.ts'
import { parseStreamId } from '../../events/streams.ts'
import { account as accounts } from '../accounts/account.ts'
import { type Caller, requireOwn } from '../caller.ts'
import { canBeProven, domain, type DomainCommand, excludesOthers, hostOf, type Proof, refuseOwn } from './domain.ts'
import type { Handler } from '../handle.ts'
import { refuseTaken } from '../claims/taken.ts'

/** What the use cases of domains need. */
export interface DomainCaller extends Caller, Pick<Handler, 'claimant'> {
  /** Releases a domain of another account, on behalf of the service. */
  readonly release: (id: number, account: number, now: string) => Promise<unknown>
  /** the time of the request (ISO 8601) */
  readonly now: string
}
export interface DomainCreator extends DomainCaller {
  readonly create: (make: (id: number) => DomainCommand) => Promise<{ readonly id: number }>
  /** Returns the account's domain at a host, also a deleted one. */
  readonly own: (host: string) => number | undefined
}

/** Returns the domain that was the last to be verified at a host. */
const lastHolder = async ({ claimant, load }: DomainCaller, host: string) => {
  const stream = await claimant({ kind: 'host', name: host })
  if (!stream) return undefined
  const { number: id } = parseStreamId(stream)
  return { id, state: (await load(domain, id)).state }
}

/**
 * Throws `Refused` unless the account may verify the host. What an erased account had is released: it cannot give it up
 * itself.
 */
const requireAvailable = async (caller: DomainCaller, holder: Awaited<ReturnType<typeof lastHolder>>) => {
  const { account, load, release, now } = caller
  if (!holder || holder.state.account === account || !excludesOthers(holder.state, now)) return
  const { state: owner } = await load(accounts, holder.state.account)
  if (owner.status !== 'erased') return refuseTaken('host')
  await release(holder.id, holder.state.account, now)
}

/**
 * Adds a domain: verified at once with a proof, else pending, which other accounts may do too. A host that this account
 * had before comes back under its old id, so that its links work again. Throws `Refused`.
 */
export const addDomain = async (
  creator: DomainCreator,
  { exact, ...fields }: StoredDomainFields & { readonly exact?: boolean | undefined },
  proof?: Proof,
): Promise<{ readonly id: number }> => {
  const { account, write, create, own, now } = creator
  const host = hostOf(fields)
  const holder = await lastHolder(creator, host)
  await requireAvailable(creator, holder)
  const command = { type: 'CreateDomain', account, fields, exact, token: randomUUID(), proof, now } as const
  const id = own(host) ?? (holder?.state.account === account ? holder.id : undefined)
  if (id === undefined) return { id: (await create((newId) => ({ ...command, id: newId }))).id }
  await write(domain, { ...command, id })
  return { id }
}

/**
 * Returns the command that verifies a domain. The token of its claim follows from what it is decided on, so that the
 * next attempt continues one that a crash has interrupted.
 */
export const verification = async (
  { load }: Pick<Caller, 'load'>,
  id: number,
  proof: Proof,
): Promise<Extract<DomainCommand, { readonly type: 'VerifyDomain' }>> => {
  const { state, revision } = await load(domain, id)
  return { type: 'VerifyDomain', id, host: hostOf(state.fields), token: `domain-${id}@${revision}`, proof }
}

/**
 * Makes a domain of the account serve, after it has passed a check. The first account to get here has the host. Throws
 * `Refused`.
 */
export const verifyDomain = async (caller: DomainCaller, id: number, proof: Proof): Promise<void> => {
  const state = await requireOwn(caller, domain, id)
  if (!canBeProven(state, proof)) return
  const holder = await lastHolder(caller, hostOf(state.fields))
  await requireAvailable(caller, holder)
  if (holder && holder.id !== id && holder.state.account === caller.account && holder.state.status === 'open')
    refuseOwn(holder.id)
  await caller.write(domain, await verification(caller, id, proof))
}
