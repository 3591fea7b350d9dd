import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { codec } from '../src/events/codec.ts'
import { systemMetadata } from '../src/events/event.ts'
import { createSignal } from '../src/lib/async/signal.ts'
import { openPool } from '../src/postgres/database.ts'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { memoryKeyring } from '../test/support/keyring.ts'
import { signIn } from '../test/support/session.ts'
import { createLinks } from './create.ts'
import { type Bench, count, type Line, load, median, reach, type Service } from './kit.ts'

/** Appends members to the stream of an account's team, each of whom signs in to one of some accounts. */
const addMembers = async (
  connection: EmbeddedConnection,
  account: number,
  people: readonly number[],
  { after, amount }: { readonly after: number; readonly amount: number },
) => {
  const pool = openPool(connection, { name: 'bench', timeout: 60_000, max: 2, onError: () => {} })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())
  const stream = `team-${account}`
  const common = () => ({ id: randomUUID(), metadata: systemMetadata(account) })
  const first = (await store.last(stream))!.revision
  const events = Array.from({ length: amount }, (_, n) => {
    const [member, person] = [after + n + 1, people[n % people.length]!]
    const invited = {
      id: account,
      member,
      role: 'editor',
      addressHash: null,
      expires: '2030-01-01T00:00:00.000Z',
    } as const
    const joined = { id: account, member, person, role: 'editor' } as const
    return [
      { type: 'MemberInvited', data: invited, ...common() },
      { type: 'MemberJoined', data: joined, ...common() },
    ] as const
  }).flat()
  for (let n = 0; n < events.length; n += 500)
    await store.append([{ stream, expected: first + BigInt(n), events: events.slice(n, n + 500) }])
  await store.close()
  await pool.end()
}

/** Returns a key that an admin has made in the account of a service. */
const keyOfMember = async (service: Service, owner: string) => {
  const [ann, ben] = [await signIn(service, owner), await signIn(service, (await service.register()).email)]
  const { json } = await ann.ask('POST', '/api/member/invite', { role: 'admin' })
  await ben.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
  const made = await ben.ask(
    'POST',
    '/api/key/add',
    { name: 'bench', scopes: ['read', 'write'] },
    { 'Linkledger-Account': String(service.id) },
  )
  return { ann, key: String(made.json['key']) }
}

/**
 * Measures what a member's key costs over that of the account, in rounds in turn, and the list of 10,000 members in a
 * service with 1,000 accounts.
 */
export const members = async (bench: Bench): Promise<Line[]> => {
  const [rounds, amount] = [bench.size(10, 2), bench.size(2_000, 200)]
  const [accounts, people] = [bench.size(1_000, 20), bench.size(9_998, 48)]
  const connection = await bench.database()
  const service = await bench.start(connection, {
    DATA_DIR: await mkdtemp(join(bench.dir, 'members-')),
    REGISTRATIONS_PER_ADDRESS: '0',
    REGISTRATIONS_PER_HOUR: '0',
  })
  await service.ready()
  const owner = await service.register()
  const own = { ...service, ...owner }
  const { ann, key } = await keyOfMember(own, owner.email)

  const requests = {
    create: (of: string) => createLinks({ address: service.address, key: of }, '-c', '8', '-a', String(amount)),
    list: (of: string) =>
      load('-c', '8', '-a', String(amount), '-H', `authorization=Bearer ${of}`, `${service.address}/api/urls?limit=25`),
  }
  const cost = async (request: (of: string) => ReturnType<typeof load>, of: string) => {
    const before = await service.cpu()
    const { '2xx': answered } = await request(of)
    if (answered !== amount) throw new Error(`${answered} of ${amount} requests were answered`)
    return ((await service.cpu()) - before) / amount
  }
  const lines: Line[] = []
  for (const [name, request] of Object.entries(requests)) {
    const each: { ratio: number; member: number; account: number }[] = []
    for (let round = 0; round <= rounds; round++) {
      // in turn, and who begins alternates
      const first = round % 2 === 0 ? [owner.key, key] : [key, owner.key]
      const costs = new Map<string, number>()
      for (const of of first) costs.set(of, await cost(request, of))
      const [account, member] = [costs.get(owner.key)!, costs.get(key)!]
      if (round > 0) each.push({ ratio: member / account, member, account })
    }
    const of = (what: 'ratio' | 'member' | 'account') => median(each.map((one) => one[what]))
    lines.push({
      what: `   CPU of ${name} with a member's key / the account's`,
      result: `${of('ratio').toFixed(3)} (${count(of('member'))} µs; ${count(of('account'))} µs)`,
      target: '<= 1.05',
      met: of('ratio') <= 1.05,
    })
  }

  const ids: number[] = []
  while (ids.length < accounts)
    ids.push(...(await Promise.all(Array.from({ length: 2 }, () => service.register()))).map(({ id }) => id))
  await addMembers(connection, owner.id, ids, { after: 2, amount: people })
  const listed = async (query = '') => (await ann.ask('GET', `/api/members?${query}`)).json
  await reach('members', people + 2, async () => Number((await listed('cursor=')).data?.result))
  const ms: number[] = []
  for (let n = 0; n < bench.size(30, 3); n++) {
    const start = performance.now()
    await listed('limit=100')
    ms.push(performance.now() - start)
  }
  await service.stop()
  const took = median(ms)
  lines.push({
    what: `   list of ${count(people + 2)} members, of ${count(accounts)} accounts`,
    result: `${took.toFixed(1)} ms`,
    target: '<= 50 ms',
    met: took <= 50,
  })
  return lines
}
