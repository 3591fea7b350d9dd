/**
 * What has changed since a release on purpose. The stored files of a release are never edited: a difference that is meant is listed here,
 * with its reason, and one that no longer occurs has to be taken out again.
 */
export interface Change {
  readonly release: string
  /** where, as a failing test names it; `*` stands for any characters: `tables/links/*.alias_key` */
  readonly at: string
  /** the value that is right today; left out when there is none any more */
  readonly now?: unknown
  readonly why: string
}

export const changes: readonly Change[] = [
  {
    release: '0.1.0',
    at: 'pages/GET /full go.example.com.json.message',
    now: 'Redirecting to example.com',
    why: 'The texts of public pages are in plain English.',
  },
  {
    release: '0.1.0',
    at: 'pages/GET /countdown go.example.com.json.message',
    now: 'You are being redirected',
    why: 'The texts of public pages are in plain English.',
  },
]

/** Types of events that came after the newest stored release, so that no stored log can hold them. */
export const typesSince: readonly string[] = []
