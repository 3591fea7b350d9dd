/** What the statistics say. */
export const stats = {
  filters: {
    country: 'Country',
    referrer: 'Referrer',
    device: 'Device',
    browser: 'Browser',
    os: 'System',
    language: 'Language',
    source: 'Source',
    rule: 'Rule',
    variant: 'Variant',
    class: 'Kind',
    link: 'Link',
  },
  sources: { link: 'Short link', qr: 'QR code', rotator: 'Campaign', bio: 'Bio page' } as Readonly<
    Record<string, string>
  >,
  classes: { human: 'People', bot: 'Bots', preview: 'Link previews', prefetch: 'Prefetches' } as Readonly<
    Record<string, string>
  >,
  rules: {
    link: 'Destination',
    qr: 'QR code',
    bio: 'Bio page',
    variant: 'Variant',
    expired_url: 'After the end',
  } as Readonly<Record<string, string>>,
  name: 'Name',
  save: 'Save as CSV: {what}',
  orRow: 'or choose any row below',
  all: { one: 'Show {n}', other: 'Show {n}' },
  fewer: 'Fewer',
  requests: 'Requests',
  scans: 'QR scans',
  ofClicks: '{n} % of clicks',
  exact: 'Exact through event {n}',
  behind: { one: '{n} second behind', other: '{n} seconds behind' },
  noEvents: 'Nothing was clicked yet.',
  noMatch: 'No click matches these filters',
  noMatchText: 'Remove a filter, or choose a longer period.',
  live: 'Live clicks',
  lastMinute: { one: '{n} in the last minute', other: '{n} in the last minute' },
  pause: 'Pause',
  paused: 'Paused',
  waiting: 'Clicks appear here as they happen. Open a link to see yours.',
  notLive: 'Not connected',
  notLiveText: 'Live clicks cannot be shown right now. The figures are still right.',
  mapLabel: 'Map of clicks by country. The list beside it has the same figures.',
}

export const filters = {
  add: 'Add filter',
  remove: 'Remove filter: {name} {value}',
  clear: 'Clear filters',
}
