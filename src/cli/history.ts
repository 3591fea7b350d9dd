import type { Command } from 'commander'
import type { Ledger } from '../app/log/ledger.ts'
import { aliasClaimName } from '../commands/links/alias.ts'
import { aliasKey } from '../lib/short/alias.ts'
import { kinds, ownedKinds, type ResourceKind } from '../events/kinds.ts'
import { streamId } from '../events/streams.ts'
import { operatorsOf } from '../http/history/actors.ts'
import { type HistoryEntry, type HistorySources, readHistory } from '../http/history/history.ts'
import { findInHistory } from '../http/history/search.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { readShortAddress } from '../lib/short/address.ts'
import { findAccountBy } from '../queries/accounts/account.ts'
import { domainsChanged } from '../queries/domains/domain.ts'
import { findEntry, type HistoryOf, type HistoryRow, listHistory } from '../queries/history/history.ts'
import type { Position } from '../queries/page.ts'
import { accountName } from './account/name.ts'
import { BadCommand, type Cli } from './cli.ts'
import { withTables } from './ledger.ts'
import { oneLine } from './oneline.ts'

interface HistoryOptions {
  readonly limit: string
  readonly search?: string
  readonly json?: boolean
}
type Find = (ledger: Ledger, sources: HistorySources) => Promise<readonly HistoryRow[]>
/** How many rows are wanted, and the text that they have. */
interface Wanted {
  readonly limit: number
  readonly search: string | undefined
}

/** `linkledger history …` */
export const addHistoryCommand = (program: Command, cli: Cli) => {
  program
    .command('history')
    .description('print who changed what, newest first')
    .argument(
      '<what...>',
      'link 12 (also qr, domain, pixel, …), a short address, account ann@example.com, or event 123456',
    )
    .option('--limit <n>', 'how many events', '50')
    .option('--search <text>', 'only events that have this text, as `q` of the API finds them')
    .option('--json', 'one JSON object for each event')
    .action((what: readonly string[], options: HistoryOptions) => print(cli, what, options))
}

const listed =
  ({ limit, search }: Wanted, of: (ledger: Ledger) => Promise<HistoryOf> | HistoryOf): Find =>
  async (ledger, sources) => {
    const whose = await of(ledger)
    const read: HistoryRow[] = []
    let after: Position | undefined
    do {
      const request = {
        limit: limit - read.length,
        page: 1,
        after,
        order: 'date',
        q: search ? [search] : undefined,
      } as const
      const { rows, next } = await findInHistory(whose, {}, request, sources)
      read.push(...rows)
      after = next
    } while (after && read.length < limit)
    return read
  }

/** Returns the stream that has an alias or had it last, also of a deleted link. */
const atAddress = async ({ handler, reader, config }: Ledger, text: string): Promise<HistoryOf> => {
  const domains = await domainsChanged(reader, 0n)
  const at = (host: string | undefined) =>
    domains.find(({ domain }) => new URL(domain).hostname === host?.replace(/:\d+$/, ''))
  const address = readShortAddress(text, (host) => at(host)?.exact === true)
  if (!address) throw new BadCommand(`${JSON.stringify(text)} is not a short address`)
  const { host } = address
  const own =
    host === undefined || host.replace(/:\d+$/, '') === new URL(config.BASE_URL ?? 'http://localhost').hostname
  const branded = own ? undefined : at(host)
  if (!own && !branded) throw new OperatorError(`${host} is neither the host of BASE_URL nor a branded domain`)
  const claimsOf = (key: string) =>
    ({
      alias: { kind: 'alias', name: aliasClaimName({ domain: branded?.id ?? null, alias: key }) },
      qr: { kind: 'qr', name: aliasKey(key) },
      campaign: { kind: 'slug', name: aliasKey(key) },
    }) as const
  const { kind, name, keys } = address
  let subject = kind === 'list' ? streamId('campaign', name.split('-').at(-1) ?? '') : undefined
  if (kind !== 'list') for (const key of keys) subject ??= await handler.claimant(claimsOf(key)[kind])
  if (subject === undefined) throw new OperatorError(`nothing ever had the address ${text}`)
  return { subject }
}

const atOrdinal =
  (ordinal: number): Find =>
  async ({ ordinals, reader }) => {
    const position = await ordinals.positionOf(ordinal)
    if (position === undefined) throw new OperatorError(`the log has no event ${ordinal} yet`)
    const row = await findEntry(reader, position)
    if (!row) throw new OperatorError(`event ${ordinal} changes no resource of an account`)
    return [row]
  }

/** Reads what is asked for without the database. Throws `BadCommand`. */
const parse = ([first = '', second, ...rest]: readonly string[], wanted: Wanted): Find => {
  if (rest.length > 0)
    throw new BadCommand('name one thing: link 12, a short address, account ann@example.com, or event 123456')
  if (second === undefined) return listed(wanted, (ledger) => atAddress(ledger, first))
  if (first === 'account') {
    const name = accountName(second)
    return listed(wanted, async ({ reader }) => {
      const found = await findAccountBy(reader, name)
      if (!found) throw new OperatorError(`there is no account ${second}`)
      return { account: found.id }
    })
  }
  const id = /^\d{1,15}$/.test(second) ? Number(second) : undefined
  if (id === undefined) throw new BadCommand(`${JSON.stringify(second)} is not an id`)
  if (first === 'event') return atOrdinal(id)
  const known: readonly ResourceKind[] = ['account', ...ownedKinds]
  const kind = known.find((name) => first === name || first === kinds[name].path)
  if (kind === undefined) throw new BadCommand(`${JSON.stringify(first)} must be one of ${known.join(', ')}, event`)
  return listed(wanted, async ({ reader }) => {
    const of = { subject: streamId(kind, id) }
    const { rows } = await listHistory(reader, of, {}, { limit: 1, page: 1, order: 'date' })
    if (rows.length === 0) throw new OperatorError(`there has never been a ${first} with the id ${id}`)
    return of
  })
}

const value = (given: unknown) =>
  oneLine(typeof given === 'string' ? JSON.stringify(given) : JSON.stringify(given ?? null))

const lines = ({ event, time, actor, request, message, resource, changes }: HistoryEntry): readonly string[] => {
  const by = [actor.kind, actor.key, actor.name === undefined ? undefined : `(${actor.name})`].filter(Boolean).join(' ')
  const head = `${String(event ?? '').padStart(9)}  ${time}  ${`${resource.type} ${resource.id}`.padEnd(14)}`
  return [
    oneLine(`${head}  ${message}  by ${by}${request === '' ? '' : `, request ${request}`}`),
    ...changes.map((change) => `           ${change.field}: ${value(change.old)} -> ${value(change.new)}`),
  ]
}

const print = (cli: Cli, what: readonly string[], { limit, search, json = false }: HistoryOptions) => {
  const most = /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (most === 0) throw new BadCommand('--limit must be a whole number from 1 to 9999')
  const find = parse(what, { limit: most, search })
  return withTables(cli, async (ledger) => {
    const { reader, ordinals, handler, config } = ledger
    const domains = new Map((await domainsChanged(reader, 0n)).map(({ id, domain }) => [id, domain]))
    const base = config.BASE_URL ?? ''
    const originOf = (id: number | null) => (id === null ? base : (domains.get(id) ?? `domain ${id}`))
    const sources = { reader, ordinals, handler, originOf, actorOf: operatorsOf }
    const entries = await readHistory(await find(ledger, sources), sources)
    if (entries.length === 0 && !json) return cli.print('There are no events.')
    for (const entry of entries) for (const line of json ? [JSON.stringify(entry)] : lines(entry)) cli.print(line)
  })
}
