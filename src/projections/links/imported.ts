import { type Projection, put, remove } from '../engine/projection.ts'

/**
 * Clicks of links that other services have counted, as their owners say. They are in a table of their own, so that what
 * was measured here stays apart.
 */
export const importedClicks: Projection = {
  name: 'imported',
  version: 1,
  filter: 'domain',
  tables: {
    imported_clicks: (t) => `
      create table ${t} (
        link bigint, source text, account bigint not null, clicks bigint not null, uniques bigint, primary key (link, source));
      create index on ${t} (account)`,
  },
  on: {
    ClicksImported: ({ data: { id: link, source, account, clicks, uniques } }) => [
      clicks === 0 && !uniques
        ? remove('imported_clicks', { link, source })
        : put('imported_clicks', { link, source }, { account, clicks, uniques }),
    ],
    AccountErased: ({ data: { id: account } }) => [remove('imported_clicks', { account })],
  },
}
