import { expect } from 'chai'
import { TOTP } from 'otpauth'
import { needsBrowser } from '../support/browser.ts'
import { atOneMoment } from '../support/clock.ts'
import { type Dashboard, openDashboard } from '../support/dashboard.ts'
import { query } from '../support/faults.ts'

const [email, password] = ['ines@example.com', 'correct horse 1']

describe('the first visit of a dashboard, on a phone', function () {
  this.timeout(300_000)
  let dashboard: Dashboard
  before(async function () {
    needsBrowser(this)
    dashboard = await openDashboard()
    await dashboard.browser.show(390, 'light')
  })
  after(async () => dashboard?.close())

  const withoutFault = async (where: string) => {
    const found: string[] = []
    for (const width of [320, 390]) {
      await dashboard.browser.show(width, width === 320 ? 'dark' : 'light')
      found.push(...(await dashboard.faults()))
    }
    expect(found, where).to.deep.equal([])
  }

  it('leads from an empty service to an account, a link with its QR code, a live click, a change, and back', async () => {
    const { app, browser, open, press, see, seeText, write } = dashboard
    for (const [language, words] of [
      ['de', 'Das erste Konto anlegen'],
      ['fr', 'Créer le premier compte'],
      ['es', 'Crear la primera cuenta'],
      ['en', 'Create the first account'],
    ] as const) {
      await browser.prefer(language)
      await open('')
      await see(`document.querySelector('h1').innerText === '${words}'`)
      await withoutFault(words)
    }
    await write('input[name=email]', email)
    await write('input[name=password]', password)
    await press('Create account')
    await seeText('Create your first link')
    await seeText(`A phone cannot: ${new URL(app.app.baseUrl).host} leads to this machine only.`)
    await withoutFault('the first link')
    await write('#first-url', 'https://shop.example.com/spring')
    await press('Shorten')
    await seeText('Your link is ready')
    await see(`document.querySelector('.qr-small svg path')`)
    await seeText('A phone cannot open the code')
    await withoutFault('the new link')
    const alias = await browser.read<string>(`document.querySelector('h1 > span').lastChild.textContent`)
    const goesTo = async () => (await app.visit(`/${alias}`)).headers.get('location')
    await seeText('Clicks appear here as they happen')
    await seeText('in the last minute')
    await see(`document.querySelector('.live.open')`)
    expect(await goesTo()).to.equal('https://shop.example.com/spring')
    await see(`document.querySelector('.feed a')?.innerText === '/${alias}'`)
    await see(`document.querySelector('.totals .figure').innerText === '1'`)
    // so do all clicks, and those under the revision
    await see(`document.querySelector('.totals li:last-child .figure').innerText === '1'`)
    await seeText('1 visitor since')
    await see(`document.querySelector('.event-list .blast .sum a')?.innerText === '1'`)
    await press('Edit')
    await see(`document.querySelector('#link-form .big-input')?.value.includes('spring')`)
    await write('#link-form .big-input', 'https://shop.example.com/sprng')
    await press('Save changes')
    await see(`document.querySelector('.event-list .diff')?.innerText.includes('sprng')`)
    await press('Restore this version')
    await see(
      `document.querySelector('dialog[open] .diff') && !document.querySelector('dialog[open] .primary').disabled`,
    )
    await press('Restore')
    await see(`document.querySelector('.goes a').href.endsWith('/spring')`)
    expect(await goesTo()).to.equal('https://shop.example.com/spring')
    // the next visitor is asked to sign in
    const { text } = await app.get('/dashboard')
    expect(text).to.include('data-first="no"')
    expect(browser.errors).to.deep.equal([])
  })

  it('adds a second factor, asks for its codes and takes recovery codes, and removes it', () =>
    atOneMoment(async () => {
      const { app, browser, open, press, see, seeText, write } = dashboard
      const enter = async (code: string, wanted: string) => {
        await press('Account: ')
        await press('Sign out')
        await see(`document.querySelector('.sign-in form')`)
        await write('input[name=email]', email)
        await write('input[name=password]', password)
        await press('Sign in')
        await seeText('Enter your code')
        if (wanted === 'recovery') await press('Use a recovery code instead')
        await see(`document.querySelector('input[name=code]')`)
        await write('input[name=code]', code)
        await press('Sign in')
        await see(`document.querySelector('.side')`)
      }
      await open('/account')
      await press('Add an authenticator app')
      await see(`document.querySelector('dialog[open] .totp svg path')`)
      const secret = (
        await browser.read<string>(`document.querySelector('dialog[open] .totp code').innerText`)
      ).replaceAll(' ', '')
      expect(secret).to.match(/^[A-Z2-7]{16,}$/)
      await withoutFault('the secret')
      const codeAt = (steps: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 })
      await write('dialog[open] input[inputmode=numeric]', codeAt(-1))
      await write('dialog[open] input[autocomplete=current-password]', password)
      await browser.read(`document.querySelector('dialog[open] .primary').click()`)
      await see(`document.querySelectorAll('dialog[open] .codes li').length === 10`)
      await withoutFault('the recovery codes')
      const [recovery = '', another = '', last = ''] = await browser.read<string[]>(
        `[...document.querySelectorAll('dialog[open] .codes li')].map((one) => one.innerText)`,
      )
      await browser.read(`document.querySelector('dialog[open] .primary').click()`)
      await seeText('10 recovery codes left')
      await enter(codeAt(0), 'app')
      await enter(recovery, 'recovery')
      await open('/account')
      await seeText('9 recovery codes left')
      // a session that was left open asks for both again, in each language, and then goes on with what was wanted
      await query(app.connection, `update state.sessions set confirmed_at = now() - interval '11 minutes'`)
      for (const [language, title] of [
        ['de', 'Passwort eingeben'],
        ['fr', 'Saisissez votre mot de passe'],
        ['es', 'Introduzca su contraseña'],
        ['en', 'Enter your password'],
      ] as const) {
        await browser.prefer(language)
        await open('/keys')
        const names = { de: 'Schlüssel erstellen', fr: 'Créer une clé', es: 'Crear clave', en: 'Create key' }
        await press(names[language])
        await see(`document.querySelector('dialog[open] .scopes')`)
        await write('dialog[open] input', 'Backup')
        await browser.read(`document.querySelectorAll('dialog[open] .scopes input')[4].click()`)
        await see(`document.querySelector('dialog[open] .scopes li:last-child input').checked`)
        await browser.read(`document.querySelector('dialog[open] .primary').click()`)
        await see(`[...document.querySelectorAll('dialog[open] h2')].some((one) => one.innerText === '${title}')`)
        await withoutFault(title)
      }
      const inTop = '[...document.querySelectorAll("dialog[open]")].at(-1)'
      const fill = (selector: string, value: string) =>
        browser.read(`((field) => {
          Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, ${JSON.stringify(value)})
          field.dispatchEvent(new Event('input', { bubbles: true }))
        })(${inTop}.querySelector('${selector}'))`)
      await fill('input[autocomplete=current-password]', password)
      await browser.read(`${inTop}.querySelector('.primary').click()`)
      await see(`${inTop}.querySelector('input[name=code]')`)
      await fill('input[name=code]', another)
      await browser.read(`${inTop}.querySelector('.primary').click()`)
      await seeText('ll_')
      await open('/account')
      await press('Remove the second factor')
      await see(`document.querySelector('dialog[open] input[autocomplete=current-password]')`)
      await write('dialog[open] input[autocomplete=current-password]', password)
      await write('dialog[open] input[name=code]', last)
      await browser.read(`document.querySelector('dialog[open] .danger').click()`)
      await see(
        `!document.querySelector('dialog[open]') && document.body.innerText.includes('Add an authenticator app')`,
      )
      expect(browser.errors).to.deep.equal([])
    }))
})
