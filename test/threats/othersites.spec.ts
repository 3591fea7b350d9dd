import { expect } from 'chai'
import { signIn } from '../support/session.ts'
import { client } from '../support/client.ts'
import { useLinks } from '../support/links.ts'

const evil = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }

describe('a page of another site that a user opens', () => {
  const { app, add, post, create } = useLinks({ RATE_LIMIT_PER_MINUTE: '30' })
  const statuses = async (count: number, send: () => Promise<{ readonly status: number }>) => {
    const found = new Set<number>()
    for (let n = 0; n < count; n++) found.add((await send()).status)
    return [...found]
  }

  it('does not use up the limits of its visitor for forms', async () => {
    const { path } = await add({ password: 'open sesame' })
    const overlay = await create('overlay', { type: 'message', name: 'm', message: 'x', link: 'https://example.com/' })
    const own = { 'Sec-Fetch-Site': 'same-origin' }
    for (const [form, body, count, status] of [
      [path, 'password=wrong', 60, 303],
      ['/report', 'link=x&reason=spam', 11, 400],
      ['/account/password', 't=x&password=aaaaaaaa', 31, 410],
      [`/o/${overlay}`, 'a=b', 11, 403],
    ] as const) {
      expect(await statuses(count, () => post(form, body, evil)), form).to.deep.equal([403])
      const answer = await post(form, form === path ? 'password=open+sesame' : body, own)
      expect(answer.status, form).to.equal(status)
    }
  })

  it('does not keep users behind the same address from signing in, registering and resetting a password', async () => {
    const person = await app().register()
    const body = { email: person.email, password: 'correct horse 1' }
    expect(await statuses(31, () => app().get('/api/account', { headers: evil }))).to.deep.equal([401, 429])
    // what comes from another site is not in the API's document
    const { post: send } = client(app().address, () => {})
    for (const path of ['/api/session', '/register'])
      expect(await statuses(31, () => send(path, { body, headers: evil })), path).to.deep.equal([403])
    await signIn(app(), person.email)
    await app().register()
  })
})
