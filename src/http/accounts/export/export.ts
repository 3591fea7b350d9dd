import { timestamp } from '../../../lib/fields.ts'
import { answersOf, type ExportedAnswer, logosOf } from '../../../queries/accounts/export.ts'
import { clicksKeptSince, clicksOf, type ExportedClick } from '../../../queries/statistics/recorded.ts'
import { findInlineLogo } from '../../../queries/qr/qr.ts'
import { requireAdmitted } from '../../api/admit.ts'
import type { Download } from '../../api/download.ts'
import { endpoint, type Call, type Route } from '../../api/route.ts'
import type { LinkAddresses } from '../../links/address.ts'
import { archive, type Content } from './archive.ts'
import { historyOf } from './history.ts'
import type { Exports } from './limit.ts'
import { redirectMaps } from './redirects.ts'
import type { StepUps } from '../credentials.ts'
import { type Ask, askRoutes, exportedLists, partsOf, resourcesOf } from './resources.ts'
import { accountContract } from '../contract/account.ts'

/** The files of the lists: a resource that a later release adds is among them. */
const files = exportedLists
  .map(({ folder, list, details }) =>
    details === undefined
      ? `${folder.padEnd(17)}the entries of GET ${list}`
      : `${folder.padEnd(17)}what GET ${details} answers for each`,
  )
  .join('\n')

const readme = `This archive has what Linkledger keeps of one account.

Files that end with .ndjson have one JSON object on each line. A folder has its lines in
files of about 1 MiB, in order. A folder that is missing has no lines. Times are in UTC.

account.json     the account, as GET /api/account answers

A resource is there as the API answers: its fields as "details", its statistics as "data". API keys and webhooks are
without their secrets.

${files}
redirects        the links that redirect now, to anybody, for other servers: csv (alias and url), nginx, caddy, netlify and
                 cloudflare. Links with a password, and rules, are not in it. docs/moving.md says how to use them
logos            the logo of each QR code that has one, by the id of the code
channel-items    the items of each channel; "channel" is its id
webhook-deliveries
                 the last attempts to deliver messages to each webhook; "webhook" is its id
answers          what visitors entered into forms of overlays, also of deleted ones; "overlay" is the id
events           the history of the account and of everything it created, also of what is deleted, stream by stream:
                 every change with its time, and in "by" what caused it. Passwords, hashes and tokens are left out.
                 An item that was taken out of a channel has no history of that
clicks           every visit that is kept one by one, oldest first. "of" says what was visited: a link, a qr code,
                 an entry of a bio page ("bio"), or a bio page itself ("view"); "id" is the id of that resource,
                 and "qr" that of the code by which a visitor came to a link.
                 "class" is human, bot, preview, prefetch or assistant; only human ones count as clicks.
                 "unique" is true for a person's first visit there. Visitors are not named
manifest.json    when the archive was made, the number of lines in each folder, and "position", the place in the log of
                 changes that lists have reached; when it is less than "head", they lack the latest changes.
                 Visits before "clicks_since" are in statistics only; null: all are here

manifest.json is last. An archive without it is not complete: export again.
`

const presentAnswer = ({ overlay, fields, created }: ExportedAnswer) => ({
  overlay: Number(overlay),
  date: timestamp(created),
  fields: fields === null ? {} : (JSON.parse(fields) as object),
})

const presentClick = ({ labels, at, ...click }: ExportedClick) => ({ at: at.toISOString(), ...click, ...labels })

const presented = async function* <T>(rows: AsyncIterable<T>, present: (row: T) => object) {
  for await (const row of rows) yield present(row)
}

/** A logo that cannot be read is left out: its code is drawn without it, too. */
const logoFiles = async function* (account: number, { reader, findImage }: Exports) {
  for await (const { id, hash } of logosOf(reader, account)) {
    const content = hash === null ? await findInlineLogo(reader, Number(id)) : await findImage(account, hash)
    if (content) yield { name: `logos/${id}.png`, content }
  }
}

/** The folders of what the API lists. */
const resources = (ask: Ask): Content[] =>
  exportedLists.flatMap((list) => [
    { folder: list.folder, lines: resourcesOf(ask, list) },
    ...(list.within ? [{ folder: list.within.folder, lines: partsOf(ask, list) }] : []),
  ])

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`

/** Begins to export an account. Nothing is read before the client reads. */
const exportAccount = async (call: Call, services: ExportServices, routes: readonly Route[]): Promise<Download> => {
  const { account } = call
  const { exports } = services
  const { reader } = exports
  const lost = new AbortController()
  const end = exports.begin(call, (why) => lost.abort(why))
  try {
    const { position, head } = await exports.caughtUp()
    const since = await clicksKeptSince(reader)
    const now = new Date()
    const ask = askRoutes(routes, { ...call, reader })
    const counts = new Map<string, number>()
    const manifest = () =>
      json({
        account,
        date: timestamp(now),
        position: String(position),
        head: String(head),
        clicks_since: since && timestamp(since),
        lines: Object.fromEntries(counts),
      })
    const contents: Content[] = [
      { file: 'README.txt', text: () => readme },
      { file: 'account.json', text: async () => json((await ask('/api/account'))['data']) },
      ...resources(ask),
      ...redirectMaps(account, reader, services),
      { files: logoFiles(account, exports) },
      { folder: 'answers', lines: presented(answersOf(reader, account), presentAnswer) },
      { folder: 'events', lines: historyOf(reader, exports.readStream, account) },
      { folder: 'clicks', lines: presented(clicksOf(reader, { account, until: now }), presentClick) },
      { file: 'manifest.json', text: manifest },
    ]
    const name = `linkledger-${account}-${now.toISOString().slice(0, 10)}.tar.gz`
    const content = archive(contents, {
      counts,
      requireAdmitted: () => requireAdmitted(call),
      lost: lost.signal,
      onClose: end,
    })
    return { download: { name, type: 'application/gzip', content } }
  } catch (error) {
    end()
    throw error
  }
}

export interface ExportServices extends LinkAddresses {
  readonly stepUps: Pick<StepUps, 'require'>
  readonly exports: Exports
}

/** An export has what the given routes answer. */
export const exportRoutes = (services: ExportServices, routes: readonly Route[]): readonly Route[] => [
  endpoint(accountContract, 'GET /api/account/export', {
    scope: 'account',
    nowOnly: 'export',
    run: async (call) => {
      await services.stepUps.require('export', call)
      return exportAccount(call, services, routes)
    },
  }),
]
