import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { type ApiDocument, declarationsOf } from '../../sdk/declarations.ts'

type Schema = ApiDocument['components']['schemas'][string]

const declared = (schema: Schema) => {
  const text = declarationsOf({ paths: {}, components: { schemas: { It: schema }, responses: {} } })
  return /^ {4}It: (.*)\n {2}\}\n {2}responses/ms.exec(text)![1]!.replaceAll(/\s+/g, ' ')
}

describe('the declaration of a schema', () => {
  const cases: Readonly<Record<string, readonly [Schema, string]>> = {
    'one type for whole and other numbers': [{ anyOf: [{ type: 'integer' }, { type: 'number' }] }, 'number'],
    'a union for several types': [{ type: ['string', 'null'] }, '(string | null)'],
    'literals for the values of an enumeration': [{ enum: ['png', 'svg'] }, '("png" | "svg")'],
    'a literal for a constant': [{ const: 0 }, '0'],
    'a union for a condition': [
      { if: { type: 'object', additionalProperties: { type: 'string' } }, else: { const: 0 } },
      '({ [name: string]: string } | 0)',
    ],
    'a list for an array of several types': [
      { type: 'array', items: { type: ['string', 'null'] } },
      '(string | null)[]',
    ],
    'a map for an object of any names': [
      { type: 'object', additionalProperties: { type: 'string' } },
      '{ [name: string]: string }',
    ],
    'an empty record for an object without fields': [{ type: 'object', properties: {} }, 'Record<string, never>'],
    'a record for an object of which nothing is known': [{ type: 'object' }, 'Record<string, unknown>'],
    'unknown for anything at all': [{}, 'unknown'],
    'a reference for another schema': [{ $ref: '#/components/schemas/Link' }, 'components["schemas"]["Link"]'],
    'an intersection for all of several': [
      {
        allOf: [{ $ref: '#/components/schemas/Failure' }, { type: 'object', properties: { id: { type: 'integer' } } }],
      },
      '(components["schemas"]["Failure"] & { id?: number })',
    ],
    'optional fields, and what fields mean as comments': [
      {
        type: 'object',
        properties: { url: { type: 'string', description: 'where it\nleads */' }, 'a-b': { type: 'boolean' } },
        required: ['url'],
      },
      '{ /** where it leads *\\/ */ url: string "a-b"?: boolean }',
    ],
  }
  for (const [name, [schema, expected]] of Object.entries(cases))
    it(`has ${name}`, () => {
      expect(declared(schema)).to.equal(expected)
    })

  it('fails on a type that it does not know', () => {
    expect(() => declared({ type: 'date' })).to.throw('no declaration is known for the type date')
  })
})

describe('the package of the client', () => {
  const manifestOf = (path: string) =>
    JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')) as {
      readonly version: string
      readonly dependencies: Readonly<Record<string, string>>
      readonly devDependencies: Readonly<Record<string, string>>
    }

  it('has the version of the service, and requires the Node.js version of its test', () => {
    const [service, client] = [manifestOf('package.json'), manifestOf('sdk/package.json')]
    expect(client.version).to.equal(service.version)
    expect(client.dependencies).to.deep.equal({ 'openapi-fetch': service.devDependencies['openapi-fetch'] })
  })
})
