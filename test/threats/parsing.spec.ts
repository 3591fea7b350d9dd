import { expect } from 'chai'
import { readAgent } from '../../src/clicks/visitor/agent.ts'
import { preferredLanguages } from '../../src/clicks/visitor/language.ts'
import { referrerHost } from '../../src/clicks/visitor/referrer.ts'
import { until } from '../support/client.ts'
import { cpuTime } from '../support/clock.ts'
import { query } from '../support/faults.ts'
import { useLinks } from '../support/links.ts'
import { send } from '../support/raw.ts'

describe('text that is hard to parse', () => {
  const { app, key, add } = useLinks({ TRUST_PROXY: '1' })
  const nasty = (length: number) => [
    ' '.repeat(length),
    '\t'.repeat(length),
    'a'.repeat(length),
    'a '.repeat(length / 2),
    ';q=0.1,'.repeat(length / 7),
    'a-'.repeat(length / 2),
    '(('.repeat(length / 2),
    'Mozilla/5.0 ('.repeat(length / 13),
    'bot/'.repeat(length / 4),
    `Android ${'1.'.repeat(length / 2)}`,
    `https://${'a.'.repeat(length / 2)}`,
    `http://${'www.m.l.'.repeat(length / 8)}com/`,
    `${'%'.repeat(length)}`,
    `bearer${' '.repeat(length)}x y`,
    '=;'.repeat(length / 2),
    ','.repeat(length),
  ]

  it('is parsed quickly by each parser of request headers', async () => {
    for (const text of nasty(100_000))
      for (const read of [
        () => readAgent(text),
        () => preferredLanguages(text),
        () => referrerHost(text, () => false),
      ]) {
        const { ms } = await cpuTime<unknown>(read)
        expect(ms, `${text.slice(0, 20)}…`).to.be.below(2000)
      }
  })

  it('is answered quickly in any header, and the visit counted', async () => {
    const { id, path } = await add()
    const names = ['User-Agent', 'Referer', 'Accept-Language', 'Accept', 'Cookie', 'X-Forwarded-For', 'Sec-Purpose']
    let visits = 0
    for (const text of nasty(15_000))
      for (const name of names) {
        const { ms, result } = await cpuTime(() => send(app().address, 'GET', path, { headers: { [name]: text } }))
        expect(ms, `${name}: ${text.slice(0, 20)}…`).to.be.below(2000)
        expect(result.status).to.equal(302)
        visits++
      }
    for (const text of nasty(15_000)) {
      const { status } = await send(app().address, 'GET', '/api/urls', { headers: { Authorization: text } })
      expect(status).to.equal(401)
    }
    const recorded = await until(
      () =>
        query(
          app().connection,
          `select 1 from log.events, json_array_elements(data->'clicks') c where type = 'LinkClicked' and (c->>'link')::int = $1`,
          [id],
        ),
      ({ length }) => length >= visits,
    )
    expect(recorded).to.have.length(visits)
  })

  it('is rejected quickly in any field of a body', async () => {
    const length = 7_000
    for (const text of nasty(length))
      for (const body of [
        { url: text },
        // white space alone would be trimmed to nothing
        { url: 'https://example.com/', custom: text, expiry: `x${text}`, domain: text },
        { url: 'https://example.com/', geotarget: [{ location: text, link: text }] },
      ]) {
        const { ms, result } = await cpuTime(() => app().post('/api/url/add', { key: key(), body }))
        expect(ms, text.slice(0, 20)).to.be.below(2000)
        expect(result.status).to.equal(400)
      }
    for (const text of ['a@'.repeat(length / 2), `a@${'a.'.repeat(length / 2)}`, `${'a.'.repeat(length / 2)}@`]) {
      const body = { email: text, password: text, username: text }
      const { ms, result } = await cpuTime(() => app().post('/register', { body }))
      expect(ms, text.slice(0, 20)).to.be.below(2000)
      expect(result.status).to.equal(400)
    }
  })
})
