import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { answer } from '../../src/commands/pages/answer.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { routes } from '../../src/http/routes.ts'
import { openApi } from '../../src/http/docs/openapi.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { long, repeatable, seed } from '../support/faults.ts'
import { signIn } from '../support/session.ts'

type Json = Readonly<Record<string, unknown>>
interface Operation {
  readonly method: string
  readonly path: string
  readonly isPublic: boolean
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Json }[]
  readonly example: Json | undefined
  readonly properties: Readonly<Record<string, Json>>
}

const { paths } = openApi({ routes, version: '' })
/** Members, proposals, identities and passkeys are numbered in each account, and come by sessions: see their flows. */
const bySessions = /^\/api\/(?:account\/add|identity|invitation|member|membership|passkey|proposal)(?:\/|$)/
const ofKeys = Object.entries(paths).filter(([path]) => !bySessions.test(path))
const operations: readonly Operation[] = ofKeys.flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const content = 'requestBody' in operation ? operation.requestBody.content['application/json'] : undefined
    return {
      method: method.toUpperCase(),
      path,
      isPublic: routes.some((route) => route.public && route.path === path),
      parameters: operation.parameters,
      example: content?.example as Json | undefined,
      properties: content?.schema.properties ?? {},
    }
  }),
)
const endpoint = ({ method, path }: Operation) => `${method} ${path}`
const kindOf = (path: string) => path.split('/')[2] ?? ''
const added = operations.filter(({ path }) => /^\/api\/\w+\/add$/.test(path)).map(({ path }) => kindOf(path))
const kinds = [...added, 'event', 'click', 'session', 'answer', 'import']

/** The kind of resource whose id a parameter of the path is, for the given item of a channel. */
const kindOfParameter = ({ path }: Operation, name: string, type: string) => {
  const byName: Readonly<Record<string, string>> = {
    channelid: 'channel',
    campaignid: 'campaign',
    linkid: 'url',
    event: 'event',
    answer: 'answer',
    // numbered in each link: any number
    address: 'url',
  }
  const kind =
    name === 'id'
      ? kindOf(path).replace('clicks', 'click')
      : name === 'itemid'
        ? ({ links: 'url' }[type] ?? type)
        : byName[name]
  if (!kind || !kinds.includes(kind)) throw new Error(`${path}: say in this spec which resource \`${name}\` is`)
  return kind
}
/** The kind of resource whose id a field of a body or a query may be. */
const fieldKinds: Readonly<Record<string, string>> = { campaign: 'campaign', channel: 'channel', pixels: 'pixel' }

const marker = 'tenantb'
/** histories have the request, also where they have no text of the resource */
const markedRequest = { 'X-Request-Id': `${marker}-request` }
/** Adds the marker to all texts that have no form of their own. */
const marked = (value: unknown, name = ''): unknown => {
  if (Array.isArray(value)) return value.map((one) => marked(one, name))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, marked(one, key)]))
  if (typeof value !== 'string') return value
  if (/^https?:\/\//.test(value)) return `${value}?${marker}`
  return /^(?:name|title|description|message|label|custom|alias|slug|notes|question|tag)$/.test(name)
    ? `${value}-${marker}`
    : value
}

describe(`accounts of one service (${repeatable})`, () => {
  let app: TestApp
  let ours: string
  let theirs: string
  const ids = { ours: new Map<string, number | string>(), theirs: new Map<string, number | string>() }
  const missing = 999_999_999

  /** Creates one resource of each kind from the example in the document. */
  const createAll = async (key: string, into: Map<string, number | string>, mark: (example: unknown) => unknown) => {
    const headers = key === theirs ? markedRequest : {}
    for (const { path, example } of operations.filter((one) => /^\/api\/\w+\/add$/.test(one.path))) {
      const send = async (body: unknown) => app.post(path, { key, body, headers })
      const first = await send(mark(example))
      const { json, text } = first.status === 400 ? await send(example) : first
      expect(json['error'], `${path} ${text}`).to.equal(0)
      into.set(kindOf(path), json['id'] as number)
    }
  }
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
    const [them, us] = [await app.register(marker), await app.register()]
    ;[theirs, ours] = [them.key, us.key]
    ids.theirs.set('session', (await signIn(app, them.email)).id)
    ids.ours.set('session', (await signIn(app, us.email)).id)
    // keys are numbered in each account: theirs get numbers that ours do not reach
    for (let n = 0; n < 10; n++) await app.post('/api/key/add', { key: theirs, body: { name: 'x', scopes: ['read'] } })
    // the last event is theirs; test/cli/proof/proof.flow.spec.ts asks for the clicks of others
    ids.theirs.set('event', (await app.app.ledger.ordinals.head()) - 1)
    ids.ours.set('event', missing)
    for (const of of [ids.ours, ids.theirs]) of.set('click', missing)
    // what they have deleted is still in the tables
    const deleted = new Map<string, number | string>()
    await createAll(theirs, deleted, (example) => marked(marked(example)))
    for (const [kind, id] of deleted)
      expect(
        (await app.del(`/api/${kind}/${id}/delete`, { key: theirs, headers: markedRequest })).status,
        kind,
      ).to.equal(200)
    await createAll(theirs, ids.theirs, marked)
    // unique names of the examples belong to the other account by now
    const unlike = (example: unknown) => ({
      ...Object.fromEntries(Object.entries(example as Json).filter(([name]) => !/^(?:custom|alias|slug)$/.test(name))),
      ...('domain' in (example as Json) && { domain: 'https://ours.example.org' }),
    })
    await createAll(ours, ids.ours, unlike)
    const imported = await app.ask('POST', `/api/import?name=${marker}`, {
      key: theirs,
      headers: { 'Content-Type': 'text/csv', ...markedRequest },
      body: `url,title\nhttps://example.com/${marker},${marker}\n`,
    })
    ids.theirs.set('import', imported.json['id'] as string)
    await until(
      async () => (await app.get(`/api/import/${imported.json['id']}`, { key: theirs })).json['details'],
      (details) => (details as { state: string }).state === 'done',
    )
    ids.ours.set('import', missing)
    // answers are numbered for each overlay, and ours has none
    for (const of of [ids.ours, ids.theirs]) of.set('answer', 1)
    const given = {
      type: 'GiveAnswer',
      answer: randomUUID(),
      overlay: Number(ids.theirs.get('overlay')),
      account: them.id,
    } as const
    const fields = JSON.stringify({ email: `${marker}@example.com` })
    await app.app.ledger.handler.handle(answer, { ...given, link: 0, fields }, systemMetadata(them.id))
    await until(
      () => app.get(`/api/overlay/${given.overlay}/answers`, { key: theirs }),
      ({ text }) => text.includes(marker),
    )
  })
  after(() => app.close())

  const fill = (operation: Operation, type: string, idOf: (kind: string, name: string) => number | string) =>
    operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === 'type' ? type : String(idOf(kindOfParameter(operation, name, type), name)),
    )
  const typesOf = ({ path }: Operation) => (path.includes('{type}') ? ['links', 'bio', 'qr'] : [''])
  const namesOf = ({ parameters }: Operation) =>
    parameters.filter((one) => one.in === 'path' && one.name !== 'type').map(({ name }) => name)

  const expectNothing = ({ text, headers }: Answer, what: string) => {
    expect(text, what).not.to.include(marker)
    expect(JSON.stringify([...headers]), what).not.to.include(marker)
  }
  /** What an account sees of itself. */
  const seen = async (key: string, of: ReadonlyMap<string, number | string>) => {
    const answers: unknown[] = []
    for (const operation of operations.filter(({ method, isPublic }) => method === 'GET' && !isPublic)) {
      // test/http/accounts/export/export.flow.spec.ts looks into the archive of an export
      // what a webhook has sent goes on meanwhile
      if (typesOf(operation).length > 1 || /stats|export|proof|deliveries|\/report$/.test(operation.path)) continue
      const { text, headers } = await app.get(
        fill(operation, '', (kind) => of.get(kind)!),
        { key },
      )
      // test/http/api/past/past.flow.spec.ts asks for the images of others
      if (headers.get('Content-Type')?.startsWith('image/')) continue
      // looking uses the key, and webhooks move on
      for (const line of text.split('\n').filter(Boolean))
        answers.push(JSON.parse(line, (name, value: unknown) => (/^(?:lastused|next)$/.test(name) ? '' : value)))
    }
    return answers
  }

  it('cannot distinguish the ids of another account from unknown ids, on any route, and change nothing there', async () => {
    const before = await seen(theirs, ids.theirs)
    expect(JSON.stringify(before).split(marker).length, 'marked texts').to.be.greaterThan(20)
    let tried = 0
    for (const operation of operations.filter((one) => namesOf(one).length > 0))
      for (const type of typesOf(operation))
        for (const foreign of namesOf(operation)) {
          const at = (id: (kind: string) => number | string) =>
            fill(operation, type, (kind, name) => (name === foreign ? id(kind) : ids.ours.get(kind)!))
          for (const body of operation.example ? [operation.example, {}] : [undefined]) {
            const ask = (path: string) => app.ask(operation.method, path, { key: ours, ...(body && { body }) })
            const [real, none] = [await ask(at((kind) => ids.theirs.get(kind)!)), await ask(at(() => missing))]
            const what = `${endpoint(operation)} with their ${foreign}`
            expectNothing(real, what)
            expect([real.status, real.text], what).to.deep.equal([none.status, none.text])
            expect(real.status, what).to.equal(404)
            tried++
          }
        }
    expect(tried).to.be.greaterThan(30)
    expect(await seen(theirs, ids.theirs)).to.deep.equal(before)
  })

  it('cannot name resources of another account in a body or a query', async () => {
    let place = 0
    for (const operation of operations.filter(({ isPublic }) => !isPublic)) {
      const path = () => fill(operation, 'links', (kind) => ids.ours.get(kind)!)
      for (const [field, schema] of Object.entries(operation.properties)) {
        const kind = fieldKinds[field]
        if (kind === undefined) continue
        const value = (id: number) => (JSON.stringify(schema).includes('"array"') ? [id] : id)
        const ask = (id: number) =>
          app.ask(operation.method, path(), {
            key: ours,
            body: { ...operation.example, custom: '', [field]: value(id) },
          })
        const [real, none] = [await ask(Number(ids.theirs.get(kind))), await ask(missing)]
        expectNothing(real, `${endpoint(operation)} ${field}`)
        const message = String(real.json['message']).replaceAll(String(ids.theirs.get(kind)), String(missing))
        expect([real.status, message], `${endpoint(operation)} ${field}`).to.deep.equal([400, none.json['message']])
      }
      if (operation.method !== 'GET') continue
      for (const { name, schema } of operation.parameters.filter((one) => one.in === 'query')) {
        // a stream that is followed does not end
        const choices = name === 'follow' ? [] : ['true', ...((schema['enum'] ?? []) as readonly string[])]
        const kind = fieldKinds[name]
        const values =
          kind === undefined ? [marker, String(ids.theirs.get('url')), ...choices] : [String(ids.theirs.get(kind))]
        for (const value of values) {
          // a third of the values, another third for each seed, and in `npm run test:faults` all of them; always those
          // that are ids
          if (!long && kind === undefined && place++ % 3 !== seed % 3) continue
          const answer = await app.get(`${path()}?${new URLSearchParams({ [name]: value }).toString()}`, { key: ours })
          if (answer.status !== 200) continue
          // a list may repeat what was asked for in the address of its next page
          expectNothing({ ...answer, headers: new Headers() }, `${endpoint(operation)}?${name}=${value}`)
        }
      }
    }
  })

  it('see nothing of each other in their lists, and nothing without a key', async () => {
    expect(JSON.stringify(await seen(ours, ids.ours))).not.to.include(marker)
    for (const operation of operations.filter(({ isPublic }) => !isPublic)) {
      const path = fill(operation, 'links', (kind) => ids.theirs.get(kind)!)
      const answer = await app.ask(operation.method, path, operation.example ? { body: operation.example } : {})
      expect(answer.status, endpoint(operation)).to.equal(401)
      expectNothing(answer, endpoint(operation))
    }
  })
})
