import type { Command } from 'commander'
import { reservedWords } from '../commands/links/alias.ts'
import { domainsChanged } from '../queries/domains/domain.ts'
import { type HeldRow, listHeld } from '../queries/reserved.ts'
import type { Cli } from './cli.ts'
import { withTables } from './ledger.ts'

/** `linkledger aliases …` */
export const addAliasCommands = (program: Command, cli: Cli) => {
  const aliases = program.command('aliases').description('look at the aliases of all accounts')
  aliases
    .command('reserved')
    .description('list links, bio pages and campaigns whose address is a reserved word by now; they keep working')
    .action(() => listReserved(cli))
}

const path = ({ kind, name }: HeldRow) => (kind === 'campaign' ? `/r/${name}` : `/${name}`)

const listReserved = (cli: Cli) =>
  withTables(cli, async ({ reader, config }) => {
    const held = await listHeld(reader, [...reservedWords])
    if (held.length === 0) return cli.print('No reserved word is in use.')
    const origins = new Map((await domainsChanged(reader, 0n)).map(({ id, domain }) => [id, domain]))
    const line = (kind: string, id: string, account: string, address: string) =>
      cli.print(`${kind.padEnd(8)}  ${id.padStart(8)}  ${account.padStart(8)}  ${address}`)
    line('kind', 'id', 'account', 'address')
    for (const row of held) {
      const origin = row.domain === null ? (config.BASE_URL ?? '') : (origins.get(row.domain) ?? '')
      line(row.kind, String(row.id), String(row.account), `${origin}${path(row)}`)
    }
  })
