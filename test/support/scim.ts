import { insertDirectoryKey } from '../../src/postgres/scimkeys.ts'
import { newDirectoryKey } from '../../src/security/directory.ts'
import type { TestApp } from './app.ts'

type Json = Readonly<Record<string, never>>
const none = {} as Json

/** Returns what a directory asks with, by a key of an issuer. */
export const openDirectoryClient = async (app: TestApp, issuer: string) => {
  const { db, keys } = app.app.ledger
  const { key, hash } = newDirectoryKey(keys.service)
  const number = await insertDirectoryKey(db, issuer, hash)
  const ask = async (method: string, path: string, body?: unknown, type = 'application/scim+json') => {
    const answer = await fetch(`${app.app.baseUrl}/scim/v2${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        'User-Agent': 'OKTA SCIM Integration',
        ...(body !== undefined && { 'Content-Type': type }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    const json = (text === '' ? none : JSON.parse(text)) as Record<string, any>
    return { status: answer.status, headers: answer.headers, text, json }
  }
  return { ask, key, number }
}
export type DirectoryClient = Awaited<ReturnType<typeof openDirectoryClient>>

export const filtered = (resource: 'Users' | 'Groups', filter: string, more = '') =>
  `/${resource}?filter=${encodeURIComponent(filter)}${more}`

const messages = 'urn:ietf:params:scim:api:messages:2.0:'
export const patchOf = (...operations: readonly object[]) => ({
  schemas: [`${messages}PatchOp`],
  Operations: operations,
})
export const listSchema = `${messages}ListResponse`
export const errorSchema = `${messages}Error`

/** A user as Entra sends one. */
export const entraUser = (name: string, externalId: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
  externalId,
  userName: `${name}@example.com`,
  active: true,
  displayName: name,
  emails: [{ primary: true, type: 'work', value: `${name}@work.example.com` }],
  meta: { resourceType: 'User' },
  name: { formatted: `${name} Smith`, familyName: 'Smith', givenName: name },
  roles: [],
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales' },
})
