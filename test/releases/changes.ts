/**
 * An intentional change since a release. The stored files of a release are never edited: an intended difference is
 * listed here, with its reason, and one that no longer occurs must be removed from the list.
 */
export interface Change {
  readonly release: string
  /** the place, as a failing test names it; `*` matches any characters: `tables/links/*.alias_key` */
  readonly at: string
  /** the value that is correct now; missing when the value is gone */
  readonly now?: unknown
  readonly why: string
}

const annPage = (part: string, now: unknown): Change => ({
  release: '0.1.0',
  at: `pages/GET /ann-page go.example.com.${part}`,
  now,
  why: 'The entries of bio pages have addresses of their own, which count clicks.',
})

/** A row of an erased account, which is deleted now instead of cleared. */
const erasedRow = (projection: string): readonly Change[] =>
  (
    [
      ['op', 'remove'],
      ['row', undefined],
    ] as const
  ).map(([part, now]) => ({
    ...{ release: 'golden', at: `golden/AccountErased.1.projected.${projection}[0].${part}`, now },
    why: 'The rows of an erased account are deleted.',
  }))
const alsoErased = (projection: string, place: number, table: string): Change => ({
  ...{ release: 'golden', at: `golden/AccountErased.1.projected.${projection}[${place}]` },
  now: { table, key: { account: 651782 }, op: 'remove' },
  why: 'All rows of an erased account are deleted.',
})

export const changes: readonly Change[] = [
  ...['hours', 'corrected_hours'].map((table) => ({
    release: '0.2.0',
    at: `tables/${table}`,
    why: 'Sums are kept by quarter hours, so that days of every time zone can be counted.',
  })),
  ...['0.1.0', '0.2.0'].map((release) => ({
    ...{ release, at: 'tables/labels/dim=9,label=1', now: { dim: 9, label: '1' } },
    why: 'Clicks are counted by the address of their link.',
  })),
  ...['qrs', 'bios', 'answers'].flatMap(erasedRow),
  alsoErased('links', 1, 'links'),
  alsoErased('links', 2, 'link_counts'),
  alsoErased('qrs', 1, 'qrs_counts'),
  alsoErased('qrs', 2, 'qr_logos'),
  alsoErased('bios', 1, 'bios_counts'),
  {
    ...{ release: 'golden', at: 'golden/LinkRestored.1.4.projected.linkaddresses[0].op', now: 'patch' },
    why: 'The other addresses of a deleted link stay in the tables, as the link does.',
  },
  {
    ...{ release: 'golden', at: 'golden/LinkRestored.1.4.projected.linkaddresses[1].key.address' },
    why: 'A deleted link comes back with the addresses that the next events add, and with no other one.',
  },
  annPage('addresses[/Ann-Page/1]', '/Ann-Page/1'),
  annPage('addresses[/Ann-Page/2]', '/Ann-Page/2'),
  annPage('addresses[https://example.com/blog]', undefined),
  annPage('addresses[https://example.com/shop]', undefined),
  ...['All my links', 'https://cdn.example.com/ann.png', 'Our blog', 'Our shop', undefined, undefined, undefined].map(
    (word, i) => annPage(`words[${i + 1}]`, word),
  ),
  {
    release: '0.1.0',
    at: 'pages/GET /full go.example.com.json.message',
    now: 'This link leads to example.com',
    why: 'The texts of public pages are in plain English.',
  },
  {
    release: '0.1.0',
    at: 'pages/GET /countdown go.example.com.json.message',
    now: 'You are being redirected',
    why: 'The texts of public pages are in plain English.',
  },
  {
    release: '0.1.0',
    at: 'pages/GET / go.example.com.addresses[/dashboard]',
    now: '/dashboard',
    why: "The page at the root of the service's own host leads to the dashboard.",
  },
  ...[
    ...['links/id=25', 'bios/id=6', 'campaigns/id=6', 'channels/id=6', 'overlays/id=10', 'qrs/id=11', 'answers/id=216'],
    ...['link', 'bios', 'campaigns', 'channels', 'overlays', 'qrs'].map((name) => `${name}_counts/account=4`),
  ].map((row) => ({ release: '0.1.0', at: `tables/${row}`, why: 'The rows of an erased account are deleted.' })),
  {
    release: '0.1.0',
    at: 'tables/links/id=4.revision',
    now: 1,
    why: 'A fence counts in the revision of its resource: clients compare it with the revision of the stream.',
  },
  {
    release: '0.1.0',
    at: 'folds/account-*.state.key',
    now: undefined,
    why: 'An account may have several API keys, which are in `keys`.',
  },
  {
    release: '0.1.0',
    at: 'tables/api_keys/account=4',
    now: undefined,
    why: 'An erased account has no API keys.',
  },
  {
    release: '0.1.0',
    at: 'answers/GET /api/overlay/2/answers as ann.json.data.answers[0].id',
    now: 2,
    why: 'Answers are numbered for each overlay; the position in the log told how much the service is used.',
  },
  {
    release: '0.1.0',
    at: 'answers/GET /api/overlay/2/answers as ann.json.data.answers[1].id',
    now: 1,
    why: 'Answers are numbered for each overlay; the position in the log told how much the service is used.',
  },
  {
    release: '0.1.0',
    at: 'answers/GET /api/overlay/3/answers as ann.json.data.answers[0].id',
    now: 1,
    why: 'Answers are numbered for each overlay; the position in the log told how much the service is used.',
  },
  {
    release: '0.1.0',
    at: 'answers/GET /api/overlay/4/answers as ann.json.data.answers[0].id',
    now: 1,
    why: 'Answers are numbered for each overlay; the position in the log told how much the service is used.',
  },
  {
    release: '0.1.0',
    at: 'answers/GET /api/overlay/8/answers as bob.json.data.answers[0].id',
    now: 1,
    why: 'Answers are numbered for each overlay; the position in the log told how much the service is used.',
  },
  {
    release: '0.1.0',
    at: 'tables/labels/dim=7,label=',
    now: { dim: 7, label: '' },
    why: 'Clicks are counted by variant of their link; those of older releases have none.',
  },
  ...['0.1.0', '0.2.0'].flatMap((release) =>
    ['', 'direct', 'social'].map((label) => ({
      ...{ release, at: `tables/labels/dim=8,label=${label}`, now: { dim: 8, label } },
      why: 'Clicks are counted by how the visitor came; those of older releases do not say it, and visits in their spools do.',
    })),
  ),
]

/** Types of events that no stored log has: rare ones of operators, and those added since the newest release. */
export const typesSince: readonly string[] = [
  'ServiceKeyMarked',
  'TablesRebuilt',
  'SpoolImported',
  'LogCopyStarted',
  'SecretRotated',
  'AccountTimezoneSet',
  'CheckpointCountRestarted',
  'EventParked',
  'SpoolRetired',
  'ClicksReclassified',
  'ReclassificationUndone',
  'WebhookPartReplayed',
  'ApiKeyAddedByMember',
  'MemberInvited',
  'InvitationWithdrawn',
  'MemberJoined',
  'MemberRoleChanged',
  'MemberRoleManaged',
  'MemberRemoved',
  'AccountAdded',
  'AccountSignInEnded',
  'ClicksImported',
  'ImportStarted',
  'ImportFinished',
  'ImportUndone',
  'VisitsImported',
  'ImportedVisitsWithdrawn',
  'TeamStarted',
  'ApprovalRulesSet',
  'ChangeProposed',
  'ChangeApproved',
  'ChangeApplied',
  'ChangeRefused',
  'AccountRegisteredByIdentity',
  'IdentityAdded',
  'IdentityRemoved',
  'PasskeyAdded',
  'PasskeyRenamed',
  'PasskeyRemoved',
  'AccountDeactivated',
  'AccountReactivated',
  'AccountOperatorManaged',
  'LinkAddressAdded',
  'LinkAddressRemoved',
  'DomainAliasesMadeExact',
]
