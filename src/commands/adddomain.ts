import { randomUUID } from 'node:crypto'
import type { DomainFields } from '../events/domain.ts'
import { parseStreamId } from '../events/streams.ts'
import type { Caller } from './caller.ts'
import { domain, type DomainCommand, hostOf } from './domain.ts'
import type { Handler } from './handle.ts'

export interface DomainCreator extends Caller, Pick<Handler, 'claimant'> {
  readonly create: (make: (id: number) => DomainCommand) => Promise<{ readonly id: number }>
}

/** Returns the id under which this account had the host before it deleted it. */
const formerId = async ({ account, load, claimant }: DomainCreator, host: string) => {
  const holder = await claimant({ kind: 'host', name: host })
  if (!holder) return undefined
  const { number: id } = parseStreamId(holder)
  const { state } = await load(domain, id)
  return state.status === 'deleted' && state.account === account && hostOf(state.fields) === host ? id : undefined
}

/** Adds a domain. A host that this account had before comes back under its old id, so that its links work again. Throws `Refused`. */
export const addDomain = async (creator: DomainCreator, fields: DomainFields): Promise<{ readonly id: number }> => {
  const { account, write, create } = creator
  const command = { type: 'CreateDomain', account, fields, token: randomUUID() } as const
  const id = await formerId(creator, hostOf(fields))
  if (id === undefined) return create((newId) => ({ ...command, id: newId }))
  await write(domain, { ...command, id })
  return { id }
}
