import { expect } from 'chai'
import { z } from 'zod'
import { android, androidFile, apple, appleFile } from '../../../src/http/domains/apps.ts'
import { firstProblem } from '../../../src/lib/fields.ts'
import { sentenceOf } from '../../../src/lib/problems/problem.ts'

const appIDs = ['9JA89QQLNQ.com.example.app']
const components = [
  { '/': '/help/*', exclude: true, comment: 'no help in the app' },
  { '/': '/buy/*', '?': { articleNumber: '????' } },
  { '#': 'no_universal_links', '?': 'a=*' },
]
const pairs = Array.from({ length: 32 }, (_, i) => (i * 7 + 160).toString(16).slice(-2))
const print = pairs.join(':')

const Body = z.object({ apple: apple.optional(), android: android.optional() })
const problemOf = (body: object) => {
  const { error } = Body.safeParse(body)
  return error ? sentenceOf(firstProblem(error)) : ''
}

describe('the apps of a branded domain', () => {
  it('are served in the form that Apple reads, with the components in their order', () => {
    const file = appleFile(apple.parse({ details: [{ appIDs, components }] }))
    expect(JSON.stringify(file)).to.equal(
      '{"applinks":{"details":[{"appIDs":["9JA89QQLNQ.com.example.app"],"components":[' +
        '{"/":"/help/*","exclude":true,"comment":"no help in the app"},{"/":"/buy/*","?":{"articleNumber":"????"}},' +
        '{"#":"no_universal_links","?":"a=*"}]}]}}',
    )
  })

  it('are served in the form that Android reads, with the fingerprints as its store writes them', () => {
    const given = { package_name: 'com.example.app', sha256_cert_fingerprints: [print] }
    expect(androidFile(android.parse([given]))).to.deep.equal([
      {
        relation: ['delegate_permission/common.handle_all_urls'],
        target: {
          namespace: 'android_app',
          package_name: 'com.example.app',
          sha256_cert_fingerprints: [print.toUpperCase()],
        },
      },
    ])
    const some = [{ '/': '/promo/*', exclude: true }, { '/': '*' }]
    expect(androidFile(android.parse([{ ...given, components: some }]))[0]).to.deep.include({
      relation_extensions: { 'delegate_permission/common.handle_all_urls': { dynamic_app_link_components: some } },
    })
  })

  it('are none when they are empty, and cleared by null and an empty text', () => {
    for (const none of ['', null, { details: [] }]) expect(apple.parse(none)).to.deep.equal({ details: [] })
    for (const none of ['', null, []]) expect(android.parse(none)).to.deep.equal([])
  })

  const one = (over: object) => ({ details: [{ appIDs, components, ...over }] })
  const component = (...given: readonly unknown[]) => one({ components: given })
  const wrongApple: readonly (readonly [unknown, string])[] = [
    ['x', '`apple` must be a JSON object.'],
    [{ details: [], applinks: {} }, '`apple` must not have `applinks`. It can have details.'],
    [{}, '`apple.details` is required'],
    [{ details: 'x' }, '`apple.details` must be an array of objects'],
    [{ details: Array.from({ length: 21 }, () => one({}).details[0]) }, '`apple.details` must have at most 20'],
    [one({ appIDs: [] }), '`apple.details.0.appIDs` must have at least one entry'],
    [one({ appIDs: 'x' }), '`apple.details.0.appIDs` must be an array of strings'],
    [one({ appIDs: ['com.example.app'] }), '`apple.details.0.appIDs.0` must be a team ID and a bundle ID'],
    [one({ appIDs: ['9ja89qqlnq.com.example.app'] }), '`apple.details.0.appIDs.0` must be a team ID and a bundle ID'],
    [one({ components: undefined }), '`apple.details.0.components` is required'],
    [one({ components: [] }), '`apple.details.0.components` must have at least one entry'],
    [one({ paths: ['*'] }), '`apple.details.0` must not have `paths`. It can have appIDs, components.'],
    [component({ comment: 'nothing' }), '`apple.details.0.components.0` must have at least one of / ? #'],
    [component({ '/': '*' }, { '/': 'buy' }), '`apple.details.0.components.1./` must start with / or *'],
    [component({ '/': '/a b' }), '`apple.details.0.components.0./` must not contain whitespace'],
    [component({ '/': '/a', exlude: true }), '`apple.details.0.components.0` must not have `exlude`'],
    [component({ '/': '/a', exclude: 'yes' }), '`apple.details.0.components.0.exclude` must be true or false'],
    [component({ '#': '' }), '`apple.details.0.components.0.#` '],
    [component({ '?': { a: 'x'.repeat(513) } }), '`apple.details.0.components.0.?'],
    [
      one({ components: Array.from({ length: 100 }, () => ({ '/': `/${'ü'.repeat(511)}`, '#': 'ü'.repeat(512) })) }),
      '`apple` must be at most 131072 bytes',
    ],
  ]
  for (const [value, message] of wrongApple)
    it(`of Apple are refused: ${message}`, () => expect(problemOf({ apple: value })).to.include(message))

  const app = (over: object) => [{ package_name: 'com.example.app', sha256_cert_fingerprints: [print], ...over }]
  const wrongAndroid: readonly (readonly [unknown, string])[] = [
    [{}, '`android` must be an array of objects'],
    [app({ package_name: 'example' }), '`android.0.package_name` must be the name of an Android package'],
    [app({ package_name: 'com.1x' }), '`android.0.package_name` must be the name of an Android package'],
    [app({ sha256_cert_fingerprints: undefined }), '`android.0.sha256_cert_fingerprints` is required'],
    [
      app({ sha256_cert_fingerprints: [pairs.join('')] }),
      '`android.0.sha256_cert_fingerprints.0` must be a SHA-256 fingerprint',
    ],
    [
      app({ sha256_cert_fingerprints: [print.slice(0, 59)] }),
      '`android.0.sha256_cert_fingerprints.0` must be a SHA-256',
    ],
    [app({ namespace: 'android_app' }), '`android.0` must not have `namespace`'],
    [app({ components: [{ '?': 'a=b' }] }), '`android.0.components.0.?` '],
  ]
  for (const [value, message] of wrongAndroid)
    it(`of Android are refused: ${message}`, () => expect(problemOf({ android: value })).to.include(message))
})
