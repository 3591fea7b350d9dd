import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { type EventType, events } from '../../src/events/index.ts'
import { entryOf, register, remains } from '../../src/events/register.ts'
import { open } from '../../src/events/whose.ts'
import { hasOwnKey, sealedIn } from '../../src/events/sealing.ts'

const types = Object.keys(events) as EventType[]
/** Returns the fields of an event, and of its changes. */
const fieldsOf = (type: EventType) => {
  const { shape } = events[type]
  const changes = 'changes' in shape ? Object.keys((shape.changes as { shape: object }).shape) : []
  return [...Object.keys(shape).filter((name) => name !== 'changes'), ...changes]
}

describe('the register of whose data each field is', () => {
  it('has every event', () => {
    expect(register.flatMap(({ schemas }) => Object.keys(schemas))).to.have.members(types)
  })

  it('says that a field is sealed where it is, and nowhere else', () => {
    for (const type of types) {
      const sealed = fieldsOf(type).filter((field) => {
        const entry = entryOf(type, field)
        return entry && entry.of !== 'nobody' && entry.as !== 'open'
      })
      expect(sealed, type).to.have.members([...sealedIn(type)])
    }
  })

  it('says which fields have a key of their own', () => {
    for (const type of types)
      for (const field of sealedIn(type))
        expect(entryOf(type, field), `${type}.${field}`).to.include({ as: hasOwnKey(type) ? 'sealed alone' : 'sealed' })
  })

  it('lists the fields that stay in clear, as the documentation and the certificate do', async () => {
    const used = types.flatMap((type) => fieldsOf(type).map((field) => entryOf(type, field)))
    const kinds = new Set(used.flatMap((entry) => (entry && 'what' in entry ? [entry.what] : [])))
    expect([...kinds]).to.have.members(Object.keys(open))
    const page = await readFile(new URL('../../docs/proof.md', import.meta.url), 'utf8')
    const listed = page.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []))
    expect(listed).to.include.members([...remains])
  })
})
