import { expect } from 'chai'
import { z } from 'zod'
import { routes } from '../../src/http/routes.ts'
import { email, firstProblem, orStop, text } from '../../src/lib/fields.ts'

type Schema = z.core.$ZodTypes

/** Returns the schemas of which a schema is made. */
const partsOf = ({ _zod: { def } }: Schema): readonly z.core.$ZodType[] => {
  switch (def.type) {
    case 'object':
      return Object.values(def.shape)
    case 'array':
      return [def.element]
    case 'union':
      return def.options
    case 'tuple':
      return [...def.items, ...(def.rest ? [def.rest] : [])]
    case 'record':
      return [def.keyType, def.valueType]
    case 'intersection':
      return [def.left, def.right]
    case 'pipe':
      return [def.in, def.out]
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return [def.innerType]
    default:
      return []
  }
}

/** Returns the paths of schemas with a check that goes on to the next one although it has failed. */
const goingOn = (schema: z.core.$ZodType, path: string): readonly string[] => {
  const { checks = [], type } = schema._zod.def
  const failing = checks.filter(({ _zod: { def } }) => def.check !== 'overwrite')
  const found = type !== 'number' && failing.slice(0, -1).some(({ _zod: { def } }) => def.abort !== true)
  return [...(found ? [path] : []), ...partsOf(schema as Schema).flatMap((part, i) => goingOn(part, `${path} ${i}`))]
}

describe('the checks of a field', () => {
  it('end with the first that fails: a text that is too long is looked at by no other', () => {
    const looked: string[] = []
    const look = (given: string) => looked.push(given.slice(0, 1)) > 0
    const schemas = [text(3).refine(look), text(3).transform(look), text(3).regex(/^b/, orStop('{}')).refine(look)]
    for (const schema of schemas)
      for (const sent of ['aaaa', 'a\0', '\ud800']) {
        const { error } = schema.safeParse(sent)
        expect(error && firstProblem(error).code).to.equal(sent.length > 3 ? 'too_long' : 'forbidden_characters')
      }
    expect(looked).to.deep.equal([])
    expect(email.safeParse('x'.repeat(255)).error?.issues).to.have.length(1)
  })

  it('do so in all bodies, queries and paths of the API', () => {
    const found = routes.flatMap(({ method, path, body, query, params }) =>
      Object.entries({ body, query, params }).flatMap(([name, schema]) =>
        schema ? goingOn(schema, `${name} of ${method} ${path}`) : [],
      ),
    )
    expect(found).to.deep.equal([])
  })

  it('are found where they go on', () => {
    const bad = z.object({ a: z.array(z.string().max(1).regex(/x/)).optional() })
    expect(goingOn(bad, 'body')).to.deep.equal(['body 0 0 0'])
  })
})
