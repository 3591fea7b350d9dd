import type { Client } from 'openapi-fetch'
import createClient from 'openapi-fetch'
import type { components, paths } from '../openapi.d.ts'

export type { components, operations, paths } from '../openapi.d.ts'

/** The objects of the API by their names in `/openapi.json`. */
export type Schemas = components['schemas']

/** Returns a client of the API of a service. Its requests and answers have the types of `/openapi.json`. */
export const linkledger = (baseUrl: string, apiKey: string): Client<paths> =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } })
