import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { query } from '../../../support/faults.ts'
import { oneTimeLink, postForm as post } from '../../../support/forms.ts'

const password = 'correct horse 1'

describe('the link to the first account', () => {
  let app: TestApp
  let other: TestApp
  before(async () => {
    app = await startTestApp({ REGISTRATION: 'closed' })
    other = await startTestApp({ REGISTRATION: 'closed', ROLES: 'http,relay' }, app.connection)
  })
  after(async () => {
    await other.close()
    await app.close()
  })
  const postForm = ({ address }: TestApp, path: string, fields: Readonly<Record<string, string>>) =>
    post(address + path, fields)
  const linkOf = ({ app: { firstAccount } }: TestApp) => oneTimeLink(firstAccount ?? expect.fail('no link was made'))

  it('is stored only as a hash, and not used up by opening it', async () => {
    const { path, token } = linkOf(app)
    const rows = await query<{ row: string }>(app.connection, 'select l::text as row from state.one_time_links l')
    expect(rows).to.have.length(2)
    for (const { row } of rows) expect(row).not.to.include(token)
    for (const method of ['GET', 'HEAD', 'GET']) {
      const page = await fetch(`${app.address}${path}?t=${token}`, { method, headers: { 'Accept-Language': 'de' } })
      expect(page.status).to.equal(200)
      expect([page.headers.get('Referrer-Policy'), page.headers.get('Cache-Control')]).to.deep.equal([
        'no-referrer',
        'private, no-store',
      ])
      if (method === 'GET') expect(await page.text()).to.include('Das erste Konto anlegen')
    }
  })

  it('shows the form again with its errors', async () => {
    const { path, token } = linkOf(app)
    for (const [fields, message] of [
      [{ email: 'ann', password }, 'Enter a complete e-mail address'],
      [{ email: 'ann@example.com', password: 'short' }, 'Choose a password of 8'],
    ] as const) {
      const { status, text } = await postForm(app, path, { t: token, ...fields })
      expect(status).to.equal(400)
      expect(text).to.include(message).and.include(token).and.not.include('short')
    }
  })

  it('makes one account, through any process, and shows its key; then all links are used up', async () => {
    const [first, second] = [linkOf(app), linkOf(other)]
    const answers = await Promise.all([
      postForm(other, first.path, { t: first.token, email: 'ann@example.com', password }),
      postForm(app, second.path, { t: second.token, email: 'bob@example.com', password }),
      postForm(app, first.path, { t: first.token, email: 'eve@example.com', password }),
    ])
    expect(answers.map(({ status }) => status)).to.have.members([200, 410, 410])
    const key = /ll_\w+/.exec(answers.map(({ text }) => text).join())?.[0] ?? ''
    expect((await app.get('/api/account', { key })).status).to.equal(200)
    for (const { path, token } of [first, second]) {
      expect((await app.visit(`${path}?t=${token}`)).status).to.equal(410)
      expect((await postForm(app, path, { t: token, email: 'dan@example.com', password })).status).to.equal(410)
    }
    const later = await startTestApp({ REGISTRATION: 'closed', ROLES: 'http,relay' }, app.connection)
    expect(later.app.firstAccount).to.equal(undefined)
    await later.close()
  })

  it('is not made where registration is open, and addresses below /account are no pages', async () => {
    for (const path of ['/account/', '/account/nothing', '/account/constructor', '/account/first/x'])
      expect((await app.visit(path)).status, path).to.equal(404)
    for (const path of ['/account/first', '/account/first?t=x', '/account/password?t=x'])
      expect((await app.visit(path)).status, path).to.equal(410)
  })
})
