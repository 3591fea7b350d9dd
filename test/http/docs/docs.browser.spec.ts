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
    const operations = Object.values((await app.get('/openapi.json')).json['paths'] as object).flatMap(Object.keys)
    // a long list has only what is in the window: all of it is seen by scrolling
    const { value, problems } = await browser.visit<number>(
      `${app.address}/docs`,
      `(async () => {
        const seen = new Set()
        const look = () => document.querySelectorAll('.opblock').forEach(({ id }) => seen.add(id))
        while (seen.size < ${operations.length}) {
          look()
          const isEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 1
          scrollTo(0, isEnd ? 0 : scrollY + innerHeight / 2)
          await new Promise((done) => setTimeout(done, 50))
        }
        scrollTo(0, 0)
        return seen.size
      })()`,
    )
    expect(value).to.equal(operations.length)
    expect(problems).to.deep.equal([])

    const status = await browser.read<string>(`(async () => {
      const until = async (find) => { for (;;) { const found = find(); if (found) return found; await new Promise((done) => setTimeout(done, 50)) } }
      (await until(() => document.querySelector('#operations-Account-getAccount .opblock-summary-control'))).click()
      const execute = await until(() => document.querySelector('#operations-Account-getAccount .execute'))
      execute.click()
      const answer = await until(() => document.querySelector('#operations-Account-getAccount .live-responses-table tbody .response-col_status'))
      return answer.textContent
    })()`)
    expect(status).to.include('401')
  })
})
