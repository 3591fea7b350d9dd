import type { Knex } from 'knex'
import type { Recorded } from '../events/event.ts'
import type { NamedKind } from '../events/kinds.ts'
import { nameOfStream } from '../events/naming.ts'
import { parseStreamId } from '../events/streams.ts'
import {
  type Change,
  type HandledProjection,
  type Projection,
  put,
  remove,
  type TableNames,
} from './engine/projection.ts'

type Given = Pick<Recorded<{ readonly type: string; readonly data: object }>, 'stream' | 'data'>

const tokenOf = (data: object) => (data as { readonly token?: string | undefined }).token

const acquire = (stream: string, kind: string, token: string): Change =>
  put('held_names', { holder: stream, kind }, { token })

/**
 * Returns the handlers of a resource with one unique name: its events repeat the token of the claim when it gets the
 * name.
 */
const nameOf = (kind: string) => ({
  acquired: ({ stream, data }: Given): readonly Change[] => {
    const token = tokenOf(data)
    return token === undefined ? [] : [acquire(stream, kind, token)]
  },
  released: ({ stream }: Given): readonly Change[] => [remove('held_names', { holder: stream, kind })],
})

const [alias, host, qr, slug] = [nameOf('alias'), nameOf('host'), nameOf('qr'), nameOf('slug')]

/** An address of a link that becomes the main one has its claim as that from then on. */
const moved = (event: Given & { readonly data: { readonly address?: number | undefined } }): readonly Change[] => {
  const { stream, data } = event
  const former =
    data.address === undefined ? [] : [remove('held_names', { holder: stream, kind: `alias ${data.address}` })]
  return [...former, ...alias.acquired(event)]
}

type Handlers = HandledProjection['on']
/** What the events of each kind of resource with a unique name do. */
const ofKinds: Readonly<Record<NamedKind, Handlers>> = {
  account: {
    AccountRegistered: ({ stream, data: { emailToken, usernameToken } }) => [
      acquire(stream, 'email', emailToken),
      acquire(stream, 'username', usernameToken),
    ],
    AccountEmailChanged: ({ stream, data }) => [acquire(stream, 'email', data.emailToken)],
    AccountAdded: ({ stream, data: { usernameToken } }) => [acquire(stream, 'username', usernameToken)],
    AccountRegisteredByIdentity: ({ stream, data: { emailToken, usernameToken } }) => [
      ...(emailToken === null ? [] : [acquire(stream, 'email', emailToken)]),
      acquire(stream, 'username', usernameToken),
    ],
    // an account may have several
    IdentityAdded: ({ stream, data }) => [acquire(stream, `identity ${data.number}`, data.identityToken)],
    IdentityRemoved: ({ stream, data }) => [remove('held_names', { holder: stream, kind: `identity ${data.number}` })],
    PasskeyAdded: ({ stream, data }) => [acquire(stream, `passkey ${data.number}`, data.passkeyToken)],
    PasskeyRemoved: ({ stream, data }) => [remove('held_names', { holder: stream, kind: `passkey ${data.number}` })],
    AccountSignInEnded: ({ stream, data: { usernameToken } }) => [
      remove('held_names', { holder: stream }),
      acquire(stream, 'username', usernameToken),
    ],
    AccountErased: ({ stream }) => [remove('held_names', { holder: stream })],
  },
  link: {
    LinkCreated: alias.acquired,
    LinkUpdated: moved,
    LinkRestored: moved,
    // a link may have several
    LinkAddressAdded: ({ stream, data }) => [acquire(stream, `alias ${data.address}`, data.token)],
    LinkAddressRemoved: ({ stream, data }) => [remove('held_names', { holder: stream, kind: `alias ${data.address}` })],
    LinkDeleted: ({ stream }) => [remove('held_names', { holder: stream })],
  },
  bio: {
    BioCreated: alias.acquired,
    BioUpdated: alias.acquired,
    BioRestored: alias.acquired,
    BioDeleted: alias.released,
  },
  campaign: {
    CampaignCreated: slug.acquired,
    CampaignUpdated: slug.acquired,
    CampaignRestored: slug.acquired,
    CampaignDeleted: slug.released,
  },
  qr: {
    QrCreated: qr.acquired,
    QrUpdated: qr.acquired,
    QrRestored: qr.acquired,
    QrDeleted: qr.released,
  },
  domain: {
    DomainCreated: host.acquired,
    DomainRestored: host.acquired,
    DomainVerified: host.acquired,
    DomainDeleted: host.released,
    DomainUnverified: ({ stream, data: { free } }) =>
      free === undefined ? [] : [remove('held_names', { holder: stream, kind: 'host' })],
  },
}

/**
 * The newest claim of each unique name, and which names each resource has: what the deciders know by one stream at a
 * time (`commands/claim.ts`), for all of them. No service reads these tables: `linkledger verify` fills them to compare
 * the two.
 */
export const claims: Projection = {
  name: 'claims',
  version: 2,
  filter: 'domain',
  tables: {
    newest_claims: (t) => `
      create table ${t} (name text collate "C" primary key, kind text not null, token text not null, holder text not null);
      create index on ${t} (token)`,
    held_names: (t) =>
      `create table ${t} (holder text collate "C", kind text, token text not null, primary key (holder, kind))`,
  },
  on: {
    NameClaimed: ({ stream, data: { token, holder } }) => {
      const { id } = parseStreamId(stream)
      return [put('newest_claims', { name: stream }, { kind: id.slice(0, id.indexOf('-')), token, holder })]
    },
    ...(Object.assign({}, ...Object.values(ofKinds)) as Handlers),
  },
}

/** wrong claims that are listed */
const limit = 20

/** Returns the names that resources have without a claim that reserves them. */
export const wrongClaims = async (db: Knex, names: TableNames): Promise<readonly string[]> => {
  const { rows } = await db.raw<{ rows: { holder: string; kind: string }[] }>(
    `select h.holder, h.kind from ${names('held_names')} h
     where not exists (select from ${names('newest_claims')} n where (n.token, n.holder, n.kind) = (h.token, h.holder, split_part(h.kind, ' ', 1)))
     order by h.holder, h.kind limit ${limit}`,
  )
  return rows.map(
    ({ holder, kind }) =>
      `claims: ${nameOfStream(holder)} has a name (${kind}) that no claim in the log reserves for it, so that another one could get it`,
  )
}
