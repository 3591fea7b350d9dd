import { expect } from 'chai'
import { needsBrowser } from '../support/browser.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'
import { startProvider } from '../support/oidcprovider.ts'
import { ownPort } from '../support/ports.ts'

const password = 'correct horse 1'

describe('an issuer in a browser', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  let provider: Awaited<ReturnType<typeof startProvider>>
  let email = ''

  /** The issuer leads back to the address of the service. */
  const open = async (path: string) => {
    await dashboard.browser.visit(`${dashboard.app.app.baseUrl}/dashboard${path}`, 'document.title')
    await dashboard.see(`document.querySelector('h1') && !document.querySelector('[aria-busy=true]')`)
  }
  const signOut = () => dashboard.browser.read(`fetch('/api/session', { method: 'DELETE' }).then(() => '')`)
  /** By its whole name: another button begins with it. */
  const signIn = async () => {
    await dashboard.write('input[name=email]', email)
    await dashboard.write('input[name=password]', password)
    await dashboard.browser.read(
      `[...document.querySelectorAll('button')].find((one) => one.innerText.trim() === 'Sign in').click()`,
    )
    await isIn()
  }
  const isIn = () => dashboard.see(`document.querySelector('.menu')`)
  const ask = (path: string) =>
    dashboard.browser.read<Readonly<Record<string, unknown>>>(
      `fetch('${path}').then((answer) => answer.json()).then(({ data }) => data)`,
    )

  before(async function () {
    needsBrowser(this)
    const port = String(await ownPort())
    const baseUrl = `http://localhost:${port}`
    provider = await startProvider(`${baseUrl}/oidc/callback`, 'RS256')
    dashboard = await openDashboard({
      PORT: port,
      BASE_URL: baseUrl,
      DOMAIN_CHECK: 'off',
      OIDC_ISSUER: provider.address,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      OIDC_NAME: 'Example ID',
    })
    email = (await dashboard.app.register()).email
  })
  after(async () => {
    await dashboard?.close()
    await provider?.close()
  })

  it('is linked on the screen of the account after its password', async () => {
    // given a person who signs in with a password
    const { press, write, see, seeText } = dashboard
    await open('')
    await dashboard.looksRight()
    await signIn()
    await open('/account')
    // when they link the issuer, then it asks for the password, and leads back to the same screen
    await press('Link my account at Example ID')
    await see(`document.querySelector('dialog input[type=password]')`)
    await dashboard.looksRight()
    await write('dialog input[type=password]', password)
    await press('Continue')
    await seeText('Ann Smith')
    expect(await dashboard.browser.read('location.pathname')).to.equal('/dashboard/account')
    await dashboard.looksRight()
  })

  it('signs in to the same account by its button, and the list says so', async () => {
    const { press, seeText } = dashboard
    const before = (await ask('/api/account'))['id']
    await signOut()
    await open('/account')
    await press('Sign in with Example ID')
    await isIn()
    // it leads back to the screen that was asked for
    await seeText('Ann Smith')
    expect((await ask('/api/account'))['id']).to.equal(before)
    const { identities } = await ask('/api/identities')
    expect(identities).to.have.length(1)
    expect((identities as readonly { readonly current: boolean }[])[0]?.current).to.equal(true)
  })

  it('is removed again, which ends the session that it has opened', async () => {
    const { press, see, seeText } = dashboard
    // what widens a right asks a session of the issuer to sign in there again
    await press('Remove')
    await press('Sign in again with Example ID')
    await see(`!document.querySelector('dialog')`)
    await seeText('Ann Smith')
    await press('Remove')
    await see(`document.querySelector('input[name=email]')`)
    // the password still signs in, and nothing is linked
    await signIn()
    await open('/account')
    await seeText('Link my account at Example ID')
    expect((await ask('/api/identities'))['identities']).to.deep.equal([])
  })
})
