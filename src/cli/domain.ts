import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { operatorOf } from '../app/operator/caller.ts'
import { stop } from '../lib/operatorerror.ts'
import { domain } from '../commands/domains/domain.ts'
import type { Handler } from '../commands/handle.ts'
import { parseStreamId } from '../events/streams.ts'
import { hostNamed } from '../lib/url.ts'
import { allDomains, type OperatorDomain } from '../queries/domains/domain.ts'
import type { Reader } from '../queries/reader.ts'
import type { Cli } from './cli.ts'
import { type Confirmation, confirm, requireAnswerable, withConfirmation } from './confirm.ts'
import { withTables } from './ledger.ts'

/** `linkledger domain …` */
export const addDomainCommands = (program: Command, cli: Cli) => {
  const domains = program.command('domain').description('manage branded domains')
  domains
    .command('list')
    .description('list all branded domains, and deleted ones while their host is reserved')
    .action(() => list(cli))
  withConfirmation(
    domains
      .command('release')
      .description('take a branded domain from its account for good; others can then verify the host')
      .argument('<domain>', 'host, or id:7 as in `domain list`'),
  ).action((which: string, options: Confirmation) => release(cli, which, options))
}

const hostIn = ({ domain: origin }: OperatorDomain) => new URL(origin).hostname
const ownerOf = ({ account, username }: OperatorDomain) =>
  `account ${account}${username === null ? '' : ` (@${username})`}`

/** Returns what becomes of visits to a domain, in one word. */
const statusOf = ({ accountStatus, deleted, verified, proof, failures }: OperatorDomain) => {
  if (accountStatus !== 'active') return accountStatus
  if (deleted) return 'deleted'
  if (!verified) return proof === '' ? 'pending' : 'unverified'
  return failures > 0 ? 'failing' : 'active'
}

const list = (cli: Cli) =>
  withTables(cli, async ({ reader }) => {
    const line = (id: string, status: string, proof: string, free: string, account: string, host: string) =>
      `${id.padStart(8)}  ${status.padEnd(10)}  ${proof.padEnd(8)}  ${free.padEnd(14)}  ${account.padEnd(30)}  ${host}`
    cli.print(line('id', 'status', 'verified', 'reserved until', 'account', 'host'))
    for (const one of await allDomains(reader)) {
      const proof = one.proof === 'off' ? 'no check' : one.proof
      const free = one.proof !== '' && one.free ? one.free.toISOString().slice(0, 10) : ''
      const owner = `${one.account} ${one.username ?? ''}`.trim()
      cli.print(line(String(one.id), statusOf(one), proof, free, owner, hostIn(one)))
    }
  })

/** Returns the domain that an operator means: by id any of them, by host the one that has the host. */
const find = async (reader: Reader, { claimant }: Pick<Handler, 'claimant'>, which: string) => {
  const [, given] = /^id:([1-9]\d{0,14})$/.exec(which) ?? []
  const holder = given === undefined ? await claimant({ kind: 'host', name: hostNamed(which) }) : undefined
  const id = holder ? parseStreamId(holder).number : Number(given)
  const [found] = Number.isNaN(id) ? [] : await allDomains(reader, id)
  return found ?? stop(`no account has the branded domain ${which}: see \`linkledger domain list\``)
}

const release = (cli: Cli, which: string, options: Confirmation) => {
  requireAnswerable(cli, options)
  return withTables(cli, async ({ handler, reader, config }, waitUntilProjected) => {
    const found = await find(reader, handler, which)
    const what = `Domain ${found.id}, ${hostIn(found)}, of ${ownerOf(found)}`
    await confirm(cli, options, `${what}: return 404 for its links, and let any account verify the host.`)
    const now = new Date().toISOString()
    const context = {
      account: found.account,
      actor: operatorOf(config),
      request: 'command line',
      command: randomUUID(),
      at: now,
    }
    const { position } = await handler.handle(domain, { type: 'ReleaseDomain', id: found.id, now }, context)
    await waitUntilProjected(position)
    cli.print(`Domain ${found.id} is released.`)
  })
}
