import { type BioEntry, type BioFields, bioLook, entriesOf, lastEntryOf } from '../../events/pages/bio.ts'
import { aliasClaimName } from '../links/alias.ts'
import { refuse } from '../decider.ts'
import { owned, type OwnedCommand } from '../owned/owned.ts'

const initial: BioFields = {
  name: '',
  alias: '',
  title: '',
  description: '',
  avatar: '',
  links: [],
  ...bioLook,
  lastEntry: 0,
}

const rules = owned(
  { created: 'BioCreated', updated: 'BioUpdated', deleted: 'BioDeleted', restored: 'BioRestored' },
  {
    kind: 'bio',
    version: 4,
    initial,
    claim: { kind: 'alias', name: ({ alias }) => aliasClaimName({ domain: null, alias }), chosen: 'alias' },
  },
)

/** Refuses ids that name no entry of the page, or one entry twice: its clicks would be counted for two. */
const requireIds = (given: BioFields['links'], last: number) =>
  given.forEach(({ id }, i) => {
    if (id === undefined) return
    const repeated = given.findIndex((other) => other.id === id) < i
    if (!repeated && id >= 1 && id <= last) return
    refuse('repeated', { what: 'entry', field: `links.${i}.id` })
  })

/**
 * Returns the entries with their ids. An entry without an id is the one that has its URL, so that a client that does
 * not know ids keeps the counts when it sends the whole list; any other is new.
 */
const withIds = (given: BioFields['links'], before: readonly BioEntry[], last: number): readonly BioEntry[] => {
  const used = new Set(given.flatMap(({ id }) => id ?? []))
  let next = last
  return given.map(({ id, title, url }) => {
    const found = id ?? before.find((entry) => entry.url === url && !used.has(entry.id))?.id ?? ++next
    used.add(found)
    return { id: found, title, url }
  })
}

const numbered = (given: BioFields['links'], before: BioFields): Pick<BioFields, 'links' | 'lastEntry'> => {
  const last = lastEntryOf(before)
  requireIds(given, last)
  const links = [...withIds(given, entriesOf(before.links), last)]
  return { links, lastEntry: lastEntryOf({ links, lastEntry: last }) }
}

const same = (a: readonly BioEntry[], b: readonly BioEntry[]) => JSON.stringify(a) === JSON.stringify(b)

const withNumbers = (command: OwnedCommand<BioFields>, before: BioFields): OwnedCommand<BioFields> => {
  if (command.type === 'Create') {
    const given = command.fields.links.map(({ title, url }) => ({ title, url }))
    return { ...command, fields: { ...command.fields, ...numbered(given, initial) } }
  }
  // former entries have ids; the highest id that one has had never goes down
  if (command.type === 'Restore') {
    const to = command.to && { ...command.to, fields: { ...command.to.fields, lastEntry: before.lastEntry } }
    return { ...command, to }
  }
  if (command.type === 'Delete' || !command.changes.links) return command
  const { links, lastEntry } = numbered(command.changes.links, before)
  if (!same(entriesOf(links), entriesOf(before.links)))
    return { ...command, changes: { ...command.changes, links, lastEntry } }
  const { links: _, ...changes } = command.changes
  return { ...command, changes }
}

/** Bio pages share the aliases of the links on the service's own host. */
export const bio: typeof rules = {
  ...rules,
  decide: (command, state) => rules.decide(withNumbers(command, state.fields), state),
}
