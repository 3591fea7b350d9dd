import createClient, { type Client } from 'openapi-fetch'
import type { paths } from './openapi.d.ts'

export type { components, operations, paths } from './openapi.d.ts'

/** Returns a client of the API of a service. Its requests and answers have the types of `/openapi.json`. */
export const linkledger = (baseUrl: string, apiKey: string): Client<paths> =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } })
