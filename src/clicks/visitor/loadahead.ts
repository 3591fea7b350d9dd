import type { IncomingHttpHeaders } from 'node:http'

/** Headers by which browsers, apps and scripts of pages announce that they load a page before a person asks for it. */
const headers = ['sec-purpose', 'x-sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const
const aims = /\b(?:prefetch|prerender|preload|preview|instant)\b/i

/** Whether a browser loads the page ahead, perhaps without showing it. */
export const isLoadAhead = (sent: IncomingHttpHeaders): boolean =>
  headers.some((name) => sent[name] !== undefined && aims.test(String(sent[name]))) ||
  sent['sec-speculation-tags'] !== undefined
