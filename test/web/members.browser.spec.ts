import { expect } from 'chai'
import { needsBrowser } from '../support/browser.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'

const desktop = 1440
const password = 'correct horse 1'
type Person = Awaited<ReturnType<Dashboard['another']>>

describe('two people in one account, each in a browser', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  let ben: Person
  let [owner, guest] = [
    { id: 0, key: '', email: '', username: '' },
    { id: 0, email: '', username: '' },
  ]

  const signIn = async ({ open, write, press, see }: Person, email: string, path = '') => {
    await open(path)
    await write('input[name=email]', email)
    await write('input[name=password]', password)
    await press('Sign in')
    await see(`document.querySelector('.menu')`)
  }

  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard({ DOMAIN_CHECK: 'off' })
    ben = await dashboard.another()
    owner = await dashboard.app.register()
    guest = await dashboard.app.register()
    await dashboard.browser.show(desktop, 'light')
    await ben.browser.show(desktop, 'light')
    await signIn(dashboard, owner.email)
  })
  after(() => dashboard?.close())

  it('begins with an invitation, whose link is shown once', async () => {
    const { open, press, see, seeText, browser } = dashboard
    await open('/members')
    await press('Invite')
    await dashboard.looksRight()
    await press('Invite')
    await see(`document.querySelector('dialog .secret code')`)
    const link = await browser.read<string>(`document.querySelector('dialog .secret code').innerText`)
    await press('I have')
    await seeText('Invited until')
    await dashboard.looksRight()

    // the address of the service is another name of this machine, with cookies of its own
    const { pathname, search } = new URL(link)
    await ben.browser.visit(`${dashboard.app.address}${pathname}${search}`, 'document.title')
    await ben.seeText(owner.username)
    await ben.press('I have an account')
    // the page before has such a field, too
    await ben.see(`location.pathname.startsWith('/dashboard') && document.querySelector('input[name=email]')`)
    await ben.write('input[name=email]', guest.email)
    await ben.write('input[name=password]', password)
    await ben.press('Sign in')
    await ben.seeText(`${owner.username}`)
    await ben.looksRight()
    await ben.press('Accept')
    await ben.see(`location.pathname === '/dashboard/@${owner.id}'`)
    await ben.seeText(`${owner.username} (Editor)`)
    await ben.looksRight()
  })

  it('shows the author of each resource, to both', async () => {
    await ben.open(`/@${owner.id}`)
    await ben.write('#first-url', 'https://example.com/spring')
    await ben.press('Shorten')
    await ben.seeText('Rules and destination')
    const { open, press, see, seeText } = dashboard
    await open('/history')
    await seeText(`${guest.username} (Editor)`)
    await dashboard.looksRight()
    await press(`${guest.username} (Editor)`)
    await see(`location.pathname === '/dashboard/members/2'`)
    await seeText('No clicks in this period')
    await dashboard.looksRight()
    await press(`Links of ${guest.username}`)
    await see(`document.querySelector('.chip b').innerText === ${JSON.stringify(guest.username)}`)
    await seeText('example.com')
    await dashboard.looksRight()
    await open('/members/2')
    await press(`Changes by ${guest.username}`)
    await seeText('Link created')
    await dashboard.looksRight()
    await ben.open(`/@${owner.id}/links`)
    await ben.see(
      `!document.querySelector('nav a[href$="/members"]') && document.querySelector('nav a[href$="/domains"]')`,
    )
    await ben.open(`/@${owner.id}/history`)
    // that of the account has its keys and members, too
    await ben.seeText('Your role in this account does not allow this')
  })

  it('lets one approve a proposal of the other, who withdraws the next one', async () => {
    const { browser, open, press, see, seeText, write } = dashboard
    await open('/members')
    await seeText('A second person')
    const allLinks = `[...document.querySelectorAll('.switch')].find((one) => one.innerText.includes('All links'))?.querySelector('input')`
    await see(allLinks)
    // until all of the screen is there
    await dashboard.looksRight()
    await browser.read(`${allLinks}.click()`)
    await see(`${allLinks}.checked`)
    await press('Save')
    await seeText('Saved')
    expect((await dashboard.app.get('/api/account/approval', { key: owner.key })).json['data']).to.include({
      live: true,
    })
    await dashboard.looksRight()

    const change = async (url: string) => {
      await ben.open(`/@${owner.id}/links/1`)
      await ben.press('Edit')
      await ben.see(`document.querySelector('#link-form .big-input')?.value.includes('example.com')`)
      await ben.write('#link-form .big-input', url)
      await ben.press('Save changes')
      await ben.seeText('another member must approve it')
    }
    await change('https://example.com/summer')
    await open('/approvals')
    await see(`document.querySelector('.side .count')?.innerText === '1'`)
    await dashboard.looksRight()
    await browser.read(`document.querySelector('table.list th a').click()`)
    await seeText('https://example.com/summer')
    await seeText('0 of 0 clicks')
    await dashboard.looksRight()
    await write('textarea', 'Checked.')
    await press('Approve')
    await seeText('Approved: the change is made')
    await dashboard.looksRight()
    await ben.open(`/@${owner.id}/history?of=url-1`)

    await change('https://example.com/autumn')
    await ben.open(`/@${owner.id}/approvals`)
    await ben.browser.read(`document.querySelector('table.list th a').click()`)
    await ben.seeText('You have proposed this')
    await ben.looksRight()
    await ben.press('Withdraw')
    await ben.seeText('Withdrawn')
    await open('/history')
    await seeText('approved by The owner')
    await dashboard.looksRight()
  })

  it('leads from one account to the other, by addresses that a colleague can open', async () => {
    await ben.open(`/@${owner.id}/links`)
    await ben.seeText('example.com')
    await ben.press('Account:')
    await ben.seeText('your own account')
    await ben.looksRight()
    await ben.browser.read(
      `[...document.querySelectorAll('.menu a')].find((one) => one.innerText.includes('your own')).click()`,
    )
    await ben.see(`location.pathname === '/dashboard'`)
    await ben.seeText('Shorten')
  })

  it('ends when the owner removes the member', async () => {
    const { open, press, seeText } = dashboard
    await open('/members')
    await press(`Remove ${guest.username}`)
    await seeText('no member: their API keys end')
    await dashboard.looksRight()
    await dashboard.browser.read(
      `(() => { const to = document.querySelector('dialog select'); to.value = '1'; to.dispatchEvent(new Event('change', { bubbles: true })) })()`,
    )
    await press('Remove')
    await seeText('removed')
    await open('/links?made_by=1')
    await seeText('example.com')
    await ben.open(`/@${owner.id}/links`)
    await ben.seeText('Account not found')
  })

  it('does not write the form of one tab into the account that another tab has signed in to', async () => {
    const { browser, open, press, see } = dashboard
    await open('/pixels')
    await browser.read(
      `fetch('/api/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ email: ${JSON.stringify(guest.email)}, password: ${JSON.stringify(password)} }) })`,
    )
    await press('Create')
    await dashboard.write('dialog input[name=name]', 'of the owner')
    await dashboard.write('dialog input[name=tag]', '123456')
    await browser.read(`document.querySelector('dialog form').requestSubmit()`)
    // the page reloads for the account that is signed in now
    await see(`document.querySelector('.menu summary').ariaLabel.includes(${JSON.stringify(guest.email)})`)
    const { json } = await dashboard.app.get('/api/pixels', { key: (guest as unknown as { key: string }).key })
    expect(json['data'].result).to.equal(0)
  })
})
