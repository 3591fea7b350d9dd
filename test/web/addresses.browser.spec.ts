import { expect } from 'chai'
import { needsBrowser } from '../support/browser.ts'
import { browser as agent, until } from '../support/client.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'
import { visitAt } from '../support/host.ts'

describe('the addresses of a link on the dashboard', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  let key = ''
  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard({ DOMAIN_CHECK: 'off' })
    const { app, browser, open, press, see, write } = dashboard
    const owner = await app.register()
    key = owner.key
    await browser.show(1440, 'light')
    await open('')
    await write('input[name=email]', owner.email)
    await write('input[name=password]', 'correct horse 1')
    await press('Sign in')
    await see(`document.querySelector('.menu')`)
  })
  after(() => dashboard?.close())

  it('are listed, added, made the main one and taken away, which can be undone', async () => {
    const { app, faults, open, press, see, seeText, write } = dashboard
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'first' } })
    const listed = async () =>
      ((await app.get(`/api/url/${json['id']}`, { key })).json['details'].addresses as { alias: string }[]).map(
        ({ alias }) => alias,
      )
    await open(`/links/${json['id']}`)
    await seeText('Main address')
    await press('Add an address')
    await see(`document.querySelector('dialog[open] .joined input')`)
    await write('dialog[open] .joined input', 'second')
    await press('Add an address')
    await seeText('leads to this link, too')
    await seeText('Make it the main address')
    expect(await listed()).to.deep.equal(['first', 'second'])
    await press('Make it the main address')
    await seeText('is the main address')
    expect(await listed()).to.deep.equal(['second', 'first'])
    await see(`document.querySelector('.link-head')?.innerText.includes('second')`)
    await press('Remove')
    await seeText('first removed')
    expect(await listed()).to.deep.equal(['second'])
    await press('Undo')
    expect(await until(listed, (all) => all.length === 2)).to.deep.equal(['second', 'first'])
    expect(await faults()).to.deep.equal([])
  })

  it('are whole paths on a domain that was added with exact aliases', async () => {
    const { app, faults, open, press, see, seeText, write } = dashboard
    await open('/domains')
    await press('Add domain')
    await see(`document.querySelector('dialog[open] input[type=text]')`)
    await write('dialog[open] input[type=text]', 'old.example')
    await see(`(document.querySelector('dialog[open] input[type=checkbox]').click(), true)`)
    await press('Add domain')
    await see(`!document.querySelector('dialog[open]')`)
    await seeText('Exact aliases')
    const body = { url: 'https://example.com/', custom: 'Sale/2026 été.html', domain: 'old.example' }
    const { json } = await app.post('/api/url/add', { key, body })
    await open(`/links/${json['id']}`)
    await see(`document.querySelector('.link-head h1')?.innerText.startsWith('old.example/Sale/2026 été.html')`)
    expect(await faults()).to.deep.equal([])
  })

  it('are made with their letter case where visitors have asked for them on a domain with exact aliases', async () => {
    const { app, open, press, see, seeText, write } = dashboard
    await app.post('/api/domain/add', { key, body: { domain: 'https://case.example', aliases: 'exact' } })
    const { status } = await visitAt(app.address, 'case.example', '/Later/On', { 'User-Agent': agent })
    expect(status).to.equal(404)
    await until(
      async () => (await app.get('/api/misses', { key })).json['data'].misses as unknown[],
      (all) => all.length === 1,
    )
    await open('/misses')
    await press('Create link …')
    await see(`[...document.querySelectorAll('dialog[open] input')].some((one) => one.value === 'Later/On')`)
    await write('dialog[open] input[placeholder="https://"]', 'https://example.com/later')
    await press('Create')
    await seeText('/Later/On created')
    expect((await visitAt(app.address, 'case.example', '/Later/On', {})).location).to.equal('https://example.com/later')
  })
})
