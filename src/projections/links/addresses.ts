import { aliasKey } from '../../lib/short/alias.ts'
import { type Projection, put, remove } from '../engine/projection.ts'
import { linkAddress } from './link.ts'

/** An address that becomes the main one is none of the others any more. */
const becomesMain = ({
  data: { id: link, address },
}: {
  readonly data: { id: number; address?: number | undefined }
}) => (address === undefined ? [] : [remove('link_addresses', { link, address })])

/** Where links can be found besides their main addresses. Those of deleted links are left out. */
export const linkAddresses: Projection = {
  name: 'linkaddresses',
  version: 1,
  filter: 'domain',
  tables: {
    link_addresses: (t) => `
      create table ${t} (
        link bigint, address int, account bigint not null, domain bigint, alias text not null, alias_key text not null,
        added timestamptz not null, primary key (link, address));
      create index on ${t} ((${linkAddress}));
      create index on ${t} (alias_key);
      create index on ${t} (account)`,
  },
  on: {
    LinkAddressAdded: ({ data: { id: link, account, address, domain, alias, added } }) => [
      put('link_addresses', { link, address }, { account, domain, alias, alias_key: aliasKey(alias), added }),
    ],
    LinkAddressRemoved: ({ data: { id: link, address } }) => [remove('link_addresses', { link, address })],
    LinkUpdated: becomesMain,
    LinkRestored: becomesMain,
    LinkDeleted: ({ data: { id: link } }) => [remove('link_addresses', { link })],
    AccountErased: ({ data: { id: account } }) => [remove('link_addresses', { account })],
  },
}
