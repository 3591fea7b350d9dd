import { expect } from 'chai'
import type { TestApp } from './app.ts'
import type { StubIssuer } from './issuer.ts'
import { openBrowser } from './issuerbrowser.ts'
import { type DirectoryClient, entraUser, patchOf } from './scim.ts'

type Browser = ReturnType<typeof openBrowser>

/** Returns what people whom a directory provisions do, and what the directory says of them. */
export const openPeople = (stub: StubIssuer, directory: () => DirectoryClient) => {
  const add = async (name: string, more: object = {}) => {
    const { status, json, text } = await directory().ask('POST', '/Users', { ...entraUser(name, name), ...more })
    expect(status, text).to.equal(201)
    return String(json['id'])
  }
  const patch = async (id: string, value: object) => {
    const answer = await directory().ask('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value }))
    expect(answer.status, answer.text).to.equal(200)
  }
  const tryEnter = async (
    of: TestApp,
    who: Readonly<Record<string, unknown>>,
    browser = openBrowser(of.app.baseUrl),
  ) => {
    stub.knows(who)
    const begun = await browser.open('/oidc/sign-in')
    const { status } = await browser.open(stub.answerTo(begun.headers.get('Location')))
    return { browser, status }
  }
  const enter = async (of: TestApp, who: Readonly<Record<string, unknown>>) => {
    const { browser, status } = await tryEnter(of, who)
    expect(status).to.equal(303)
    return browser
  }
  const statusOf = async (browser: Browser) => (await browser.ask('GET', '/api/account')).status
  const idOf = async (browser: Browser) => Number((await browser.ask('GET', '/api/account')).json['data'].id)
  return { add, patch, tryEnter, enter, statusOf, idOf }
}
