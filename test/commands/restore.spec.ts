import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { bio } from '../../src/commands/pages/bio.ts'
import { campaign } from '../../src/commands/links/campaign.ts'
import type { Decider } from '../../src/commands/decider.ts'
import { type Handler, handler } from '../../src/commands/handle.ts'
import { link } from '../../src/commands/links/link.ts'
import { qr } from '../../src/commands/qr/qr.ts'
import { splash } from '../../src/commands/pages/splash.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import { completed } from '../../src/events/links/link.ts'
import { at, linkFields } from '../support/events.ts'
import { randomFrom, seed } from '../support/faults.ts'
import { newMemoryStore } from '../support/writer.ts'

type Random = (below: number) => number
const one = <T>(random: Random, values: readonly T[]) => values[random(values.length)]!

interface State {
  readonly status: string
  readonly fields: object
  readonly password?: string | null
}
interface Model {
  readonly decider: Decider<never, State, DomainEvent>
  readonly create: () => object
  readonly change: (random: Random) => object
  readonly restore: (to?: object) => object
  readonly remove: object
}
const id = 42
const own = { id, account: 1 }
const words = ['', 'one', 'two', 'three']
const urls = ['https://example.com/a', 'https://example.com/b', 'https://example.com/c']

/** Some of the fields, at random, with values that repeat. */
const some = (random: Random, fields: Readonly<Record<string, readonly unknown[]>>) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, values]) => (random(3) === 0 ? [[name, one(random, values)]] : [])),
  )

const owned = (decider: unknown, fields: object, values: Readonly<Record<string, readonly unknown[]>>): Model => ({
  decider: decider as Model['decider'],
  create: () => ({ type: 'Create', ...own, fields, token: randomUUID() }),
  change: (random) => ({ type: 'Update', ...own, changes: some(random, values), token: randomUUID() }),
  restore: (to) => ({ type: 'Restore', ...own, to, token: randomUUID() }),
  remove: { type: 'Delete', ...own },
})

const targets = [[], [{ name: 'Canada', url: urls[0]! }], [{ name: 'CA', url: urls[1]! }]]
const models: Readonly<Record<string, Model>> = {
  'a link': {
    decider: link as unknown as Model['decider'],
    create: () => ({ type: 'CreateLink', ...own, fields: linkFields, password: null, token: randomUUID(), now: at(0) }),
    change: (random) => ({
      type: 'UpdateLink',
      ...own,
      token: randomUUID(),
      now: at(0),
      ...(random(3) === 0 ? { password: one(random, [null, 'hash 1', 'hash 2']) } : {}),
      changes: some(random, {
        alias: ['Hello', 'hello', 'other', 'third'],
        domain: [null, 5],
        url: urls,
        entered: [null, 'example.com/a'],
        title: words,
        notes: [null, 'mine', 'ours'],
        archived: [true, false],
        tags: [[], ['a'], ['a', 'b']],
        expiry: [null, at(100)],
        location: targets,
        device: targets,
        campaign: [null, 3, 4],
        pixels: [[], [1], [2, 1]],
        max_clicks: [null, 10],
        variants: [[], urls.slice(0, 2).map((url) => ({ url, weight: 1 })), urls.map((url) => ({ url, weight: 2 }))],
      }),
    }),
    restore: (to) => ({ type: 'RestoreLink', ...own, to, token: randomUUID() }),
    remove: { type: 'DeleteLink', ...own },
  },
  'a bio page': owned(
    bio,
    { ...bio.initialState.fields, name: 'Ann', alias: 'ann' },
    {
      name: ['Ann', 'Ann S.'],
      alias: ['ann', 'Ann', 'ann-2'],
      title: words,
      theme: ['paper', 'ink'],
      links: [
        [],
        [{ title: 'Shop', url: urls[0] }],
        urls.map((url) => ({ title: 'x', url })),
        [{ title: 'x', url: urls[2] }],
      ],
    },
  ),
  'a QR code': owned(
    qr,
    { ...qr.initialState.fields, alias: 'q', name: 'Code', data: '"x"' },
    {
      name: ['Code', 'Menu'],
      data: ['"x"', '"https://example.com/"'],
      foreground: ['#000000', '#000080'],
      logoHash: [null, 'h1', 'h2'],
    },
  ),
  'a campaign': owned(
    campaign,
    { name: 'Spring', slug: 'spring', public: true },
    {
      name: ['Spring', 'Summer'],
      slug: ['spring', 'Spring', 'summer'],
      public: [true, false],
    },
  ),
  'a splash page': owned(
    splash,
    { ...splash.initialState.fields, name: 's' },
    {
      name: ['s', 't'],
      label: words,
      color: ['', '#ffffff'],
      counter: [0, 10],
    },
  ),
}

/** What has to be as it was: all fields, but not the highest ids that were given. */
const compared = ({ status, fields, password }: State) => {
  const all = 'url' in fields ? completed(fields as Parameters<typeof completed>[0]) : fields
  const { last_variant: _, lastEntry: __, entered, logoHash, ...rest } = all as Readonly<Record<string, unknown>>
  return { status, password, entered: entered ?? null, logoHash: logoHash ?? null, ...rest }
}

describe('a changed or deleted resource', () => {
  const steps = 60

  for (const [name, model] of Object.entries(models))
    it(`is, for ${name}, at any time again as it was at any revision by SEED=${seed}`, async () => {
      const random = randomFrom(seed)
      const { handle, load, steps: read }: Handler = handler(await newMemoryStore())
      const write = async (command: object) => {
        const context = {
          account: 1,
          actor: { kind: 'key' as const, key: 'k' },
          request: 'r',
          command: randomUUID(),
          at: at(0),
        }
        return handle(model.decider, command as never, context)
      }
      const states = new Map<number, State>()
      let { state, revision } = await write(model.create())
      for (let n = 0; n < steps; n++) {
        states.set(revision, state)
        const open = state.status === 'open'
        const back = one(
          random,
          [...states].filter(([, one]) => one.status === 'open'),
        )
        if (open && random(6) > 0) ({ state, revision } = await write(model.change(random)))
        else if (open && random(3) === 0) ({ state, revision } = await write(model.remove))
        else if (!open && random(2) === 0) {
          const before = state
          ;({ state, revision } = await write(model.restore()))
          expect(compared(state)).to.deep.equal({ ...compared(before), status: 'open' })
        } else {
          const [to, { fields, password }] = back
          const { fields: current } = state
          ;({ state, revision } = await write(model.restore({ revision: to, fields, password })))
          expect(compared(state), `revision ${to}`).to.deep.equal(compared(states.get(to)!))
          for (const last of ['last_variant', 'lastEntry'])
            expect((state.fields as never)[last] ?? 0).to.be.at.least((current as never)[last] ?? 0)
        }
      }
      expect(compared((await load(model.decider, id)).state), 'folded from the log').to.deep.equal(compared(state))
      for await (const { event, after } of read(model.decider, id)) {
        const known = states.get(Number(event.revision))
        if (known) expect(compared(after)).to.deep.equal(compared(known))
      }
    })
})
