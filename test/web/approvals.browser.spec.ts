import { expect } from 'chai'
import { needsBrowser } from '../support/browser.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'
import { signIn } from '../support/session.ts'

const password = 'correct horse 1'

describe('approvals on the dashboard', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  let owner = { id: 0, email: '' }
  let [ann, ben]: Awaited<ReturnType<typeof signIn>>[] = []
  const asked = (who: typeof ann, method: string, path: string, body?: object) =>
    who!.ask(method, path, body, { 'Linkledger-Account': String(owner.id) })
  const approve = async (proposal: unknown) => {
    const { status, text } = await asked(ben, 'POST', `/api/proposal/${String(proposal)}/approve`, {})
    expect(status, text).to.equal(200)
  }

  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard({ DOMAIN_CHECK: 'off' })
    const { app, browser, open, press, see, write } = dashboard
    owner = await app.register()
    ann = await signIn(app, owner.email)
    ben = await signIn(app, (await app.register()).email)
    const { json } = await asked(ann, 'POST', '/api/member/invite', { role: 'admin', current_password: password })
    await ben.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    await browser.show(1440, 'light')
    await open('')
    await write('input[name=email]', owner.email)
    await write('input[name=password]', password)
    await press('Sign in')
    await see(`document.querySelector('.menu')`)
  })
  after(() => dashboard?.close())

  it('are set by rules that show a domain which was deleted, and can be saved', async () => {
    const { browser, faults, open, press, seeText } = dashboard
    const id = (await asked(ann, 'POST', '/api/domain/add', { domain: 'https://brand.example' })).json['id']
    await asked(ann, 'PUT', '/api/account/approval', { tags: ['printed'], domains: [id] })
    await approve((await asked(ann, 'DELETE', `/api/domain/${id}/delete`)).json['proposal'])
    await open('/members')
    await seeText(`Domain ${id}`)
    expect(await faults()).to.deep.equal([])
    await browser.read(
      `[...document.querySelectorAll('.switch')].find((one) => one.innerText.includes('All links')).querySelector('input').click()`,
    )
    await press('Save')
    await seeText('Saved')
    const { data } = (await asked(ann, 'GET', '/api/account/approval')).json
    expect(data).to.deep.equal({ tags: ['printed'], domains: [id], live: true })
  })

  it('of outdated changes are marked as such, under no empty heading', async () => {
    const { browser, faults, open, seeText } = dashboard
    const url = 'https://example.com/a'
    const { id } = (await asked(ann, 'POST', '/api/url/add', { url, tags: ['printed'] })).json
    const change = await asked(ann, 'PUT', `/api/url/${id}/update`, { url: 'https://example.com/b' })
    const { proposal } = change.json
    await open(`/approvals/${proposal}`)
    await seeText('What it changes')
    await approve((await asked(ann, 'DELETE', `/api/url/${id}/delete`)).json['proposal'])
    await open(`/approvals/${proposal}`)
    await seeText('It was changed meanwhile')
    expect(await browser.read(`document.querySelector('main').innerText`)).to.not.include('What it changes')
    expect(await faults()).to.deep.equal([])
  })
})
