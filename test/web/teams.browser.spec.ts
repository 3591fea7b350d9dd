import { needsBrowser } from '../support/browser.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'
import { signIn } from '../support/session.ts'

const password = 'correct horse 1'

describe('an account for a team in the dashboard', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  let [owner, second] = [
    { id: 0, email: '', username: '' },
    { id: 0, email: '', username: '' },
  ]

  const enter = async ({ email }: { readonly email: string }) => {
    const { open, press, see, write } = dashboard
    await open('/account')
    await write('input[name=email]', email)
    await write('input[name=password]', password)
    await press('Sign in')
    await see(`document.querySelector('.menu')`)
  }

  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard({ DOMAIN_CHECK: 'off' })
    owner = await dashboard.app.register()
    second = await dashboard.app.register()
    const [ann, ben] = [await signIn(dashboard.app, owner.email), await signIn(dashboard.app, second.email)]
    const { json } = await ann.ask('POST', '/api/member/invite', { role: 'owner' })
    await ben.ask('POST', '/api/invitation/accept', { token: new URL(json['link']).searchParams.get('t') })
    await dashboard.browser.show(1440, 'light')
  })
  after(() => dashboard?.close())

  it('is made of an account whose own sign-in ends, and belongs to the owner that is chosen', async () => {
    const { press, see, seeText, write } = dashboard
    await enter(owner)
    await press('Make this a team account')
    await seeText('Owner from then on')
    await dashboard.looksRight()
    await write('dialog input[type=password]', password)
    await press('Make this a team account')
    await see(`document.querySelector('input[name=email]')`)
    await enter(second)
    await seeText(owner.username)
    await dashboard.looksRight()
  })

  it('is erased by its owner with the password, and kept while it is not', async () => {
    const { press, seeText, write } = dashboard
    await press('Erase')
    await seeText(`Erase ${owner.username}?`)
    await dashboard.looksRight()
    await write('dialog input[type=password]', password)
    await press('Erase')
    await seeText('Erased on')
    await dashboard.looksRight()
    await press('Keep it')
    await seeText('The account will not be erased.')
  })
})
