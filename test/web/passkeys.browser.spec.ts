import { expect } from 'chai'
import { type Browser, needsBrowser } from '../support/browser.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'
import { query } from '../support/faults.ts'

const password = 'correct horse 1'

describe('passkeys in a browser', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  let authenticator: Awaited<ReturnType<Browser['addAuthenticator']>>
  let ann = { email: '', id: 0 }

  /** Passkeys are bound to the host of the address of the service. */
  const open = async (path: string) => {
    await dashboard.browser.visit(`${dashboard.app.app.baseUrl}/dashboard${path}`, 'document.title')
    await dashboard.see(`document.querySelector('h1') && !document.querySelector('[aria-busy=true]')`)
  }
  const signOut = () => dashboard.browser.read(`fetch('/api/session', { method: 'DELETE' }).then(() => '')`)
  const isIn = () => dashboard.see(`document.querySelector('.menu')`)

  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard({ DOMAIN_CHECK: 'off' })
    ann = await dashboard.app.register()
    authenticator = await dashboard.browser.addAuthenticator()
    const { press, write } = dashboard
    await open('')
    await dashboard.looksRight()
    await write('input[name=email]', ann.email)
    await write('input[name=password]', password)
    await press('Sign in')
    await isIn()
  })
  after(() => dashboard?.close())

  it('are made after the password, named, renamed, and listed with their last use', async () => {
    const { press, write, see, seeText } = dashboard
    await open('/account')
    await seeText('without the password and without a code')
    await press('Add a passkey')
    await write('dialog input[name=name]', 'My laptop')
    await press('Continue')
    await see(`document.querySelector('dialog input[type=password]')`)
    await dashboard.looksRight()
    await write('dialog input[type=password]', 'wrong horse 1')
    await press('Continue')
    await seeText('is not the password')
    await write('dialog input[type=password]', password)
    await press('Continue')
    await seeText('My laptop')
    await seeText('Not used yet')
    expect(await authenticator.passkeys()).to.equal(1)
    await dashboard.looksRight()
    await press('Rename')
    await write('dialog input[name=name]', 'My old laptop')
    await press('Save')
    await see(`!document.querySelector('dialog') && document.body.innerText.includes('My old laptop')`)
    // the same device a second time
    await press('Add a passkey')
    await press('Continue')
    await see(`document.querySelector('dialog input[type=password]')`)
    await write('dialog input[type=password]', password)
    await press('Continue')
    await seeText('This device has a passkey of this account already')
    await press('Cancel')
  })

  it('sign in by one button, and by the keyboard alone', async () => {
    const { browser, press, see, seeText } = dashboard
    await signOut()
    await authenticator.touched(false)
    await open('')
    await see(`document.activeElement?.name === 'email'`)
    await authenticator.touched(true)
    await press('Sign in with a passkey')
    await isIn()
    await open('/account')
    await seeText('This browser')
    await signOut()
    await authenticator.touched(false)
    await open('')
    await see(`document.activeElement?.name === 'email'`)
    await browser.read(
      `[...document.querySelectorAll('button')].find((one) => one.innerText.startsWith('Sign in with a passkey')).focus()`,
    )
    await authenticator.touched(true)
    await browser.press('Enter')
    await isIn()
  })

  it('confirm a session, in place of the password', async () => {
    const { browser, press, see, seeText } = dashboard
    await query(dashboard.app.connection, `update state.sessions set confirmed_at = null`)
    await open('/keys')
    const asked = `fetch('/api/account/export').then(({ status }) => status)`
    expect(await browser.read(asked)).to.equal(403)
    await open('/account')
    await press('Remove')
    await see(`document.querySelector('dialog[open]')`)
    await press('Remove')
    await seeText('Use a passkey')
    await dashboard.looksRight()
    await press('Use a passkey')
    await seeText('no longer signs in to this account')
    await see(`document.querySelector('input[name=email]')`)
  })

  it('say in plain words why there is none', async () => {
    const { browser, press, seeText } = dashboard
    await open('')
    await press('Sign in with a passkey')
    await seeText('No account has this passkey')
    await dashboard.looksRight()
    await browser.read(`delete PublicKeyCredential.parseRequestOptionsFromJSON`)
    await press('Sign in with a passkey')
    await seeText('This browser knows no passkeys')
    expect(browser.errors).to.deep.equal([])
  })
})
