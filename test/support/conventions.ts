import { expect } from 'chai'
import { problemCodes } from '../../src/lib/problems/problem.ts'
import type { Answer } from './client.ts'

const rate = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** An answer is no page: a window with it can do nothing. */
const noPage = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Expects what every response of the API has: rate limit, request id, CORS, JSON with `error`. */
export const expectConventions = ({ headers, text, json }: Answer, message: string) => {
  for (const name of rate) expect(headers.get(name), `${message}: ${name}`).to.match(/^\d+$/)
  expect(headers.get('X-Request-Id'), message).to.match(/^[\da-f-]{36}$/)
  // pages of other sites may read everything but the answers of what needs no key
  const isClosed = /\/(?:register|api\/account\/reset)(?!\/?\w)/i.test(message)
  expect(headers.get('Access-Control-Allow-Origin'), message).to.equal(isClosed ? null : '*')
  expect(headers.get('Content-Type'), message).to.equal('application/json; charset=utf-8')
  expect(headers.get('X-Content-Type-Options'), message).to.equal('nosniff')
  expect(headers.get('Cache-Control'), message).to.equal('no-store')
  expect(headers.get('Content-Security-Policy'), message).to.equal(noPage)
  expect(headers.get('Cross-Origin-Opener-Policy'), message).to.equal('same-origin')
  expect([0, 1, '0'], `${message}: ${text}`).to.include(json['error'])
}
/**
 * Expects what a failure says as values: a code of the enumeration, what the sentence needs, and the field that it is
 * about, if any.
 */
export const expectProblem = (json: Readonly<Record<string, unknown>>, message: string) => {
  expect(problemCodes, message).to.include(json['code'])
  expect(json['params'], message).to.be.an('object')
  for (const value of Object.values(json['params'] as object))
    expect(typeof value, `${message}: ${value}`).to.be.oneOf(['string', 'number'])
  const [, named] = /^`([\w.-]+)` /.exec(String(json['message'])) ?? []
  if (named !== undefined) expect(json['field'], message).to.equal(named)
  if ('field' in json) expect(json['field'], message).to.be.a('string').and.not.equal('')
}

/** Expects a failure with this status and one message. */
export const expectFailure = (answer: Answer, status: number, message: string) => {
  const { json } = answer
  expectConventions(answer, message)
  expect(answer.status, `${message}: ${answer.text}`).to.equal(status)
  expect(json, message).to.have.all.keys('error', 'message', 'code', 'params', ...('field' in json ? ['field'] : []))
  expect(json['error'], message).to.equal(1)
  expect(json['message'], message).to.be.a('string').and.match(/\.$/)
  expectProblem(json, message)
}
