import { expect } from 'chai'
import { startTestApp } from './app.ts'
import type { Answer } from './client.ts'
import { signIn } from './session.ts'

export type Session = Awaited<ReturnType<typeof signIn>>
type Settings = Readonly<Record<string, string>>

const settings = { DOMAIN_CHECK: 'off', SESSION_RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PER_MINUTE: '0' }

/** Starts a service with an account, of which changes of links with the tag `printed` need a second person: an editor. */
export const startWithRules = async (more: Settings = {}) => {
  const app = await startTestApp({ ...settings, ...more })
  const owner = await app.register('acme', 'acme')
  const ann = await signIn(app, owner.email)
  const asked = (who: Pick<Session, 'ask'>, method: string, path: string, body?: object) =>
    who.ask(method, path, body, { 'Linkledger-Account': String(owner.id) })
  /** Adds a member: a new person, or a former member. */
  const join = async (
    role: string,
    given: { readonly domains?: readonly number[]; readonly session?: Session } = {},
  ) => {
    const { session = await signIn(app, (await app.register()).email), ...more } = given
    const { json } = await asked(ann, 'POST', '/api/member/invite', { role, ...more })
    const token = new URL(json['link']).searchParams.get('t')
    const { status, text } = await session.ask('POST', '/api/invitation/accept', { token })
    expect(status, text).to.equal(200)
    return { session, number: Number(json['id']) }
  }
  const { session: ben } = await join('editor')
  const set = await asked(ann, 'PUT', '/api/account/approval', { tags: ['printed'] })
  expect(set.status, set.text).to.equal(200)
  const url = 'https://example.com/a'
  return {
    app,
    account: owner.id,
    ann,
    ben,
    asked,
    join,
    leave: (who: Session) => who.ask('DELETE', `/api/membership/${owner.id}/delete`),
    add: async (body: object = {}, who = ann) =>
      Number((await asked(who, 'POST', '/api/url/add', { url, tags: ['printed'], ...body })).json['id']),
    change: (id: number, body: object, who: Pick<Session, 'ask'> = ann) =>
      asked(who, 'PUT', `/api/url/${id}/update`, { url, ...body }),
    detailsOf: async (id: number) => (await asked(ann, 'GET', `/api/url/${id}`)).json['details'],
    found: async (number: number, who: Pick<Session, 'ask'> = ben) => asked(who, 'GET', `/api/proposal/${number}`),
    decide: (who: Pick<Session, 'ask'>, verb: 'approve' | 'refuse', number: number) =>
      asked(who, 'POST', `/api/proposal/${number}/${verb}`, {}),
  }
}

/** Returns the number of the proposal that an answer has in place of a change. */
export const proposed = ({ status, json }: Pick<Answer, 'status' | 'json'>): number => {
  expect(status, JSON.stringify(json)).to.equal(202)
  return Number(json['proposal'])
}

/** Returns what is wrong by an answer. */
export const failure = ({ status, json }: Pick<Answer, 'status' | 'json'>) => [
  status,
  json['code'],
  json['params']?.what,
]
