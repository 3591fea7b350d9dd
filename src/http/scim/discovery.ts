import { groupSchema } from './groups.ts'
import { listAnswer, notFound, refuse, type Resource, type ScimServices } from './resource.ts'
import { userSchema } from './users.ts'

const core = 'urn:ietf:params:scim:schemas:core:2.0:'

interface Attribute {
  readonly name: string
  readonly type: string
  readonly [more: string]: unknown
}
const attribute = (name: string, type = 'string', more: object = {}): Attribute => ({
  ...{ name, type, description: name, multiValued: false, required: false, caseExact: false },
  ...{ mutability: 'readWrite', returned: 'default', uniqueness: 'none' },
  ...more,
})
const unique = { required: true, uniqueness: 'server' }
const exact = { caseExact: true, uniqueness: 'server' }

const schemas = [
  {
    id: userSchema,
    name: 'User',
    description: 'A person who signs in with the issuer.',
    attributes: [
      attribute('userName', 'string', unique),
      attribute('externalId', 'string', exact),
      attribute('displayName'),
      attribute('name', 'complex', {
        subAttributes: ['formatted', 'familyName', 'givenName'].map((one) => attribute(one)),
      }),
      attribute('emails', 'complex', {
        multiValued: true,
        subAttributes: [attribute('value'), attribute('type'), attribute('primary', 'boolean')],
      }),
      attribute('active', 'boolean'),
    ],
  },
  {
    id: groupSchema,
    name: 'Group',
    description: 'A group of users, which may give roles.',
    attributes: [
      attribute('displayName', 'string', unique),
      attribute('externalId', 'string', { caseExact: true }),
      attribute('members', 'complex', {
        multiValued: true,
        subAttributes: [
          attribute('value', 'string', { mutability: 'immutable' }),
          attribute('type', 'string', { mutability: 'immutable' }),
        ],
      }),
    ],
  },
]
const schemaList = schemas.map((one) => ({ schemas: [`${core}Schema`], ...one }))

const typeList = schemas.map(({ id, name, description }) => ({
  schemas: [`${core}ResourceType`],
  ...{ id: name, name, description, endpoint: `/${name}s`, schema: id, schemaExtensions: [] },
}))

const config = (serviceUrl: string) => ({
  schemas: [`${core}ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: 200 },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Key',
      description: 'The key that `linkledger scim key add` prints.',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${serviceUrl}/scim/v2/ServiceProviderConfig` },
})

const readOnly =
  (answer: (id: string | undefined) => ReturnType<typeof listAnswer>): Resource =>
  async ({ id, method }) =>
    method === 'GET' ? answer(id) : refuse(405, 'This is only read.')
const listOf = (all: readonly { readonly id: string }[]) =>
  readOnly((id) =>
    id === undefined ? listAnswer(all) : { status: 200, body: all.find((one) => one.id === id) ?? notFound() },
  )

/** Serves the description of this service for directories. */
export const discoveryResources = ({ serviceUrl }: Pick<ScimServices, 'serviceUrl'>) => ({
  ServiceProviderConfig: readOnly((id) => (id === undefined ? { status: 200, body: config(serviceUrl) } : notFound())),
  ResourceTypes: listOf(typeList),
  Schemas: listOf(schemaList),
})
