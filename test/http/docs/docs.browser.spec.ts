import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Browser, needsBrowser, openBrowser } from '../../support/browser.ts'

describe('the page /docs in Chromium', () => {
  let app: TestApp
  let browser: Browser
  before(async function () {
    needsBrowser(this)
    app = await startTestApp()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await app?.close()
  })

  it('shows every operation and sends a request, without a violation of its policy', async () => {
    const { value, problems } = await browser.visit<number>(
      `${app.address}/docs`,
      `(async () => {
        while (document.querySelectorAll('.opblock').length < 50) await new Promise((done) => setTimeout(done, 50))
        return document.querySelectorAll('.opblock').length
      })()`,
    )
    expect(value).to.equal(
      Object.values((await app.get('/openapi.json')).json['paths'] as object).flatMap(Object.keys).length,
    )
    expect(problems).to.deep.equal([])

    const status = await browser.read<string>(`(async () => {
      const until = async (find) => { for (;;) { const found = find(); if (found) return found; await new Promise((done) => setTimeout(done, 50)) } }
      document.querySelector('#operations-Account-getAccount .opblock-summary-control').click()
      const execute = await until(() => document.querySelector('#operations-Account-getAccount .execute'))
      execute.click()
      const answer = await until(() => document.querySelector('#operations-Account-getAccount .live-responses-table tbody .response-col_status'))
      return answer.textContent
    })()`)
    expect(status).to.include('401')
  })
})
