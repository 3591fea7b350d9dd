import { aliasKey } from '../../lib/short/alias.ts'
import { patch, type Projection, put, remove } from '../engine/projection.ts'
import { foldedAddress, hasExactAlias, linkAddress } from './link.ts'

/** An address that becomes the main one is none of the others any more. */
const becomesMain = ({
  data: { id: link, address },
}: {
  readonly data: { id: number; address?: number | undefined }
}) => (address === undefined ? [] : [remove('link_addresses', { link, address })])

/**
 * Where links can be found besides their main addresses. The rows of a deleted link stay, as its row in `links` does:
 * they say which domains it was on. A restore adds those again that it comes back with.
 */
export const linkAddresses: Projection = {
  name: 'linkaddresses',
  version: 3,
  filter: 'domain',
  tables: {
    link_addresses: (t) => `
      create table ${t} (
        link bigint, address int, account bigint not null, domain bigint, alias text not null, alias_key text not null,
        added timestamptz not null, deleted timestamptz, primary key (link, address));
      create index on ${t} ((${linkAddress})) where deleted is null;
      create index on ${t} ((${foldedAddress})) where deleted is null and ${hasExactAlias};
      create index on ${t} (alias_key) where deleted is null;
      create index on ${t} (account)`,
  },
  on: {
    LinkAddressAdded: ({ data: { id: link, account, address, domain, alias, added } }) => [
      put('link_addresses', { link, address }, { account, domain, alias, alias_key: aliasKey(alias), added }),
    ],
    LinkAddressRemoved: ({ data: { id: link, address } }) => [remove('link_addresses', { link, address })],
    LinkUpdated: becomesMain,
    LinkRestored: ({ data }) => (data.deleted ? [remove('link_addresses', { link: data.id })] : becomesMain({ data })),
    LinkDeleted: ({ data: { id: link }, at }) => [patch('link_addresses', { link }, { deleted: at })],
    AccountErased: ({ data: { id: account } }) => [remove('link_addresses', { account })],
  },
}
