import { expect } from 'chai'
import type { Answer } from './client.ts'

const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** Expects what every response of the API has: rate limit, request id, CORS, JSON with `error`. */
export const expectConventions = ({ headers, text, json }: Answer, message: string) => {
  for (const name of rate) expect(headers.get(name), `${message}: ${name}`).to.match(/^\d+$/)
  expect(headers.get('X-Request-Id'), message).to.match(/^[\da-f-]{36}$/)
  expect(headers.get('Access-Control-Allow-Origin'), message).to.equal('*')
  expect(headers.get('Content-Type'), message).to.equal('application/json; charset=utf-8')
  expect(headers.get('X-Content-Type-Options'), message).to.equal('nosniff')
  expect(headers.get('Cache-Control'), message).to.equal('no-store')
  expect([0, 1, '0'], `${message}: ${text}`).to.include(json['error'])
}
/** Expects a failure with this status and one message. */
export const expectFailure = (answer: Answer, status: number, message: string) => {
  expectConventions(answer, message)
  expect(answer.status, `${message}: ${answer.text}`).to.equal(status)
  expect(answer.json, message).to.have.all.keys('error', 'message')
  expect(answer.json['error'], message).to.equal(1)
  expect(answer.json['message'], message).to.be.a('string').and.match(/\.$/)
}
