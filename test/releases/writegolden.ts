/**
 * Adds the golden events that are missing, each in a file of its own:
 *
 *     npm run golden
 *     npm run golden -- LinkRestored '{"id":7,"revision":3}' link-7
 *
 * The first makes up payloads by the schemas of the events. The second takes the payload that it is given, and the
 * stream: for an event that a payload without meaning would not show. Files that exist are never changed.
 */
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { New } from '../../src/events/event.ts'
import { type DomainEvent, type EventType, events } from '../../src/events/index.ts'
import { versionOf } from '../../src/events/upcast.ts'
import { goldenCodec, goldenDir, goldenFiles, missingGolden, outcomeOf, type StoredEvent } from './golden.ts'
import { sampleOf } from './sample.ts'

type Data = Readonly<Record<string, unknown>>

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 22) + seconds * 1000).toISOString()
const hashOf = (text: string) => createHash('sha256').update(text).digest()
const uuidOf = (text: string) =>
  hashOf(text)
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')
/** Returns a number that no other example has: its ids. */
const numberOf = (name: string) => 100_000 + (hashOf(name).readUInt32BE() % 900_000)

const firstWord = (type: string) => /^[A-Z][a-z]+/.exec(type)?.[0] ?? type

/** The streams of events that are not named after their resource. */
const streams: readonly (readonly [RegExp, (n: number, data: Data) => string])[] = [
  [/^(?:Member|Invitation|TeamStarted)/, (n) => `team-${n}`],
  [/^(?:Approval|Change)/, (n) => `approval-${n}`],
  [/^(?:ApiKey|Identity|Passkey)/, (n) => `account-${n}`],
  [/^Item/, (n) => `channelitem-${n}-links-${n}`],
  [/^NameClaimed$/, (n) => `claim-alias-0-golden-${n}`],
  [/^ClaimFenced$/, (n) => `link-${n}`],
  [/^(?:LinkClicked|ClickLogOpened|ClicksMissing|ClicksDropped)$/, (n) => `clicks-golden${n}-0`],
  [/^Spool(?:Opened|Retired)$/, (n) => `spool-golden${n}-0-golden`],
  [/^Address/, (_, { kind, value }) => `block-${String(kind)}-${String(value)}`],
  [
    /^(?:ClicksReclassified|ReclassificationUndone)$/,
    (_, { reclassification }) => `reclassification-${String(reclassification)}`,
  ],
  [/^(?:VisitsImported|ImportedVisitsWithdrawn)$/, (n, { import: id }) => `visits-${typeof id === 'string' ? id : n}`],
  [/^EventParked$/, (n) => `projection-golden${n}`],
  [/^LogOpened$/, () => 'log'],
  [/^ServiceKeyMarked$/, () => 'log-key'],
  [/^CheckpointCountRestarted$/, () => 'log-checkpoints'],
  [/^(?:TablesRebuilt|SpoolImported|LogCopyStarted|SecretRotated)$/, () => 'log-operations'],
]
const streamFor = (type: string, n: number, data: Data) => {
  const own = streams.find(([pattern]) => pattern.test(type))?.[1]
  const id = typeof data['id'] === 'string' ? data['id'] : n
  return own ? own(n, data) : `${firstWord(type).toLowerCase()}-${id}`
}

/** What comes before an event in its stream, besides the event that makes the resource. */
const earlier: Readonly<Record<string, EventType>> = {
  AccountEnabled: 'AccountDisabled',
  AccountReactivated: 'AccountDeactivated',
  InvitationWithdrawn: 'MemberInvited',
  MemberJoined: 'MemberInvited',
  MemberRoleChanged: 'MemberInvited',
  MemberRemoved: 'MemberInvited',
  ChangeApproved: 'ChangeProposed',
  ChangeApplied: 'ChangeProposed',
  ChangeRefused: 'ChangeProposed',
  AccountErasureCancelled: 'AccountErasureScheduled',
  AccountErasedOnDisk: 'AccountErased',
  IdentityRemoved: 'IdentityAdded',
  PasskeyRenamed: 'PasskeyAdded',
  PasskeyRemoved: 'PasskeyAdded',
  AddressUnblocked: 'AddressBlocked',
  ItemRemovedFromChannel: 'ItemAssignedToChannel',
  ReclassificationUndone: 'ClicksReclassified',
  AnswerErased: 'AnswerGiven',
  ReportClosed: 'ReportSent',
  ReportErased: 'ReportSent',
  ImportedVisitsWithdrawn: 'VisitsImported',
}
const isType = (name: string): name is EventType => Object.hasOwn(events, name)

/** Returns the events that an event needs in its stream. */
const before = (type: EventType, stream: string): readonly EventType[] => {
  const [kind = ''] = stream.split('-')
  if (type === 'AccountRegisteredByIdentity' || type === 'AccountAdded') return []
  const creating = kind === 'account' ? 'AccountRegistered' : `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Created`
  const needed = [creating, earlier[type] ?? type.replace(/Restored$/, 'Deleted')]
  return needed.filter(isType).filter((name) => name !== type)
}

/** Returns an event as the log stores it. */
const stored = async (type: EventType, data: Data, stream: string, [n, place]: readonly [number, number]) => {
  const name = `${type} ${n} ${place}`
  const event = {
    id: uuidOf(name),
    type,
    data: events[type].parse(data),
    metadata: {
      v: versionOf(type),
      at: at(place),
      account: n,
      actor: { kind: 'key', key: 'golden' },
      request: 'golden',
      command: uuidOf(`command of ${name}`),
    },
  } as unknown as New<DomainEvent>
  const encoded = await goldenCodec.encode(event, stream)
  return {
    stream,
    id: event.id,
    type,
    at: at(place),
    data: JSON.parse(encoded.data) as unknown,
    metadata: JSON.parse(encoded.metadata) as unknown,
  } satisfies StoredEvent
}

const add = async (type: EventType, given?: Data, stream?: string) => {
  const version = versionOf(type)
  const files = goldenFiles()
  let name = `${type}.${version}.json`
  for (let again = 2; files.includes(name); again++) name = `${type}.${version}.${again}.json`
  const n = numberOf(name)
  const data = given ?? sampleOf(events[type], n)
  const place = stream ?? streamFor(type, n, data)
  const all = [...before(type, place), type]
  const made = await Promise.all(
    all.map((one, i) => stored(one, one === type ? data : sampleOf(events[one], n, 'before'), place, [n, i])),
  )
  const golden = { type, version, events: made, ...(await outcomeOf(made)) }
  await writeFile(join(goldenDir, name), `${JSON.stringify(golden, null, 1)}\n`, { flag: 'wx' })
  process.stdout.write(`test/releases/golden/${name}\n`)
}

await mkdir(goldenDir, { recursive: true })
const [wanted, data, stream] = process.argv.slice(2)
if (wanted !== undefined)
  await add(wanted as EventType, data === undefined ? undefined : (JSON.parse(data) as Data), stream)
else
  for (const { type, version } of await missingGolden()) {
    if (version === versionOf(type)) await add(type)
    else process.stdout.write(`${type}: check out the commit before version ${version + 1}, and run this there\n`)
  }
