import type { Context } from 'koa'
import { type Directory, type DirectoryUser, isDuplicate, type PageOf } from '../../security/directory.ts'

/** Keeps accounts in step with what a directory has said: see src/app/accounts. */
export interface DirectorySync {
  /** `before`: what the directory has said before; undefined: nothing. `saysActive`: whether it says that now. */
  readonly settle: (
    issuer: string,
    user: DirectoryUser,
    change: { readonly before?: DirectoryUser; readonly saysActive: boolean },
  ) => Promise<void>
  readonly leave: (issuer: string, user: DirectoryUser) => Promise<void>
  readonly regroup: (accounts: readonly number[], groups: readonly string[]) => Promise<void>
}

/** What the resources of SCIM need. */
export interface ScimServices {
  readonly directory: Directory
  readonly sync: DirectorySync
  readonly serviceUrl: string
}

/** A request with a key of an issuer. `id`: of a resource, as the path has it. */
export interface ScimCall {
  readonly issuer: string
  readonly method: string
  readonly id: string | undefined
  readonly query: (name: string) => string
  readonly body: () => Promise<Readonly<Record<string, unknown>>>
}
export interface ScimAnswer {
  readonly status: number
  readonly body?: object
}
export type Resource = (call: ScimCall) => Promise<ScimAnswer>

type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'noTarget' | 'uniqueness'
/** A request is refused. */
export class ScimRefused extends Error {
  override readonly name = 'ScimRefused'
  readonly status: number
  readonly scimType: ScimType | undefined
  constructor(status: number, message: string, scimType?: ScimType) {
    super(message)
    this.status = status
    this.scimType = scimType
  }
}
/** Throws `ScimRefused`. */
export const refuse = (status: number, detail: string, scimType?: ScimType): never => {
  throw new ScimRefused(status, detail, scimType)
}

const api = 'urn:ietf:params:scim:api:messages:2.0:'
export const errorBody = (status: number, detail: string, scimType?: ScimType) => ({
  schemas: [`${api}Error`],
  status: String(status),
  detail,
  ...(scimType && { scimType }),
})

/** Returns the answer with a list, or a page of it. */
export const listAnswer = (resources: readonly object[], total = resources.length, first = 0): ScimAnswer => ({
  status: 200,
  body: {
    schemas: [`${api}ListResponse`],
    totalResults: total,
    startIndex: first + 1,
    itemsPerPage: resources.length,
    Resources: resources,
  },
})

/** resources of a page, unless a request asks for fewer */
const [usual, most] = [100, 200]
/** Returns the page that a request asks for; pages begin with 1. */
export const pageOf = ({ query }: ScimCall): PageOf => {
  const numberOf = (name: string, otherwise: number) => {
    const given = query(name)
    if (given === '') return otherwise
    return /^-?\d{1,9}$/.test(given) ? Number(given) : refuse(400, `${name} must be a whole number.`, 'invalidValue')
  }
  const count = numberOf('count', usual)
  return { first: Math.max(1, numberOf('startIndex', 1)) - 1, count: Math.min(most, Math.max(0, count)) }
}

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i
export const isId = (text: unknown): text is string => typeof text === 'string' && uuid.test(text)
/** Returns the id in a path. Refuses what cannot be one. */
export const idOf = ({ id }: ScimCall): string => (isId(id) ? id.toLowerCase() : notFound())
export const notFound = (): never => refuse(404, 'There is no such resource in this directory.')

/** Refuses what has the name of another one. */
export const refuseDuplicate =
  (detail: string) =>
  (error: unknown): never => {
    if (isDuplicate(error)) return refuse(409, detail, 'uniqueness')
    throw error
  }

/** Returns where a resource is, and when it was changed. */
export const metaOf = (
  type: 'User' | 'Group',
  { id, created, updated }: Pick<DirectoryUser, 'id' | 'created' | 'updated'>,
  serviceUrl: string,
) => ({
  resourceType: type,
  created: created.toISOString(),
  lastModified: updated.toISOString(),
  location: `${serviceUrl}/scim/v2/${type}s/${id}`,
})

/** Returns a value of the query of a request, `` when there is none; the first one, where there are several. */
export const queryOf =
  ({ query }: Pick<Context, 'query'>) =>
  (name: string): string => {
    const [value = ''] = [query[name] ?? ''].flat()
    return value
  }
