import { type Comparison, type Operation, operationsOf, parseFilter, parsePatch } from './parse.ts'
import { idOf, isId, listAnswer, pageOf, refuse, type Resource, type ScimAnswer, type ScimCall } from './resource.ts'
import type { PageOf } from '../../security/directory.ts'

/** What a directory does with one kind of resource. `id` is a UUID in lower case. */
interface Actions<Condition extends readonly [field: string, value: string]> {
  /** as in the path: `Users` */
  readonly many: string
  readonly conditionOf: (comparison: Comparison) => Condition
  /** fields of conditions that only a UUID can equal */
  readonly ids: ReadonlySet<string>
  readonly list: (
    issuer: string,
    conditions: readonly Condition[],
    page: PageOf,
  ) => Promise<{ readonly total: number; readonly resources: readonly object[] }>
  readonly add: (issuer: string, operations: readonly Operation[]) => Promise<ScimAnswer>
  readonly find: (issuer: string, id: string, query: ScimCall['query']) => Promise<ScimAnswer>
  readonly replace: (issuer: string, id: string, operations: readonly Operation[]) => Promise<ScimAnswer>
  readonly patch: (issuer: string, id: string, operations: readonly Operation[]) => Promise<ScimAnswer>
  readonly remove: (issuer: string, id: string) => Promise<void>
}

/** Serves one kind of resource by the methods of RFC 7644, chapter 3. */
export const serve =
  <C extends readonly [field: string, value: string]>(actions: Actions<C>): Resource =>
  async (call) => {
    const { issuer, method, query } = call
    if (call.id === undefined && method === 'GET') {
      const conditions = parseFilter(query('filter')).map(actions.conditionOf)
      const page = pageOf(call)
      if (conditions.some(([field, value]) => actions.ids.has(field) && !isId(value))) return listAnswer([])
      const { total, resources } = await actions.list(issuer, conditions, page)
      return listAnswer(resources, total, page.first)
    }
    if (call.id === undefined && method === 'POST') return actions.add(issuer, operationsOf(await call.body()))
    const id = idOf(call)
    switch (method) {
      case 'GET':
        return actions.find(issuer, id, query)
      case 'PUT':
        return actions.replace(issuer, id, operationsOf(await call.body()))
      case 'PATCH':
        return actions.patch(issuer, id, parsePatch(await call.body()))
      case 'DELETE':
        await actions.remove(issuer, id)
        return { status: 204 }
      default:
        return refuse(405, `${actions.many} have GET, POST, PUT, PATCH and DELETE.`)
    }
  }
