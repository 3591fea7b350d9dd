import type { LinkKind } from '../../security/onetimelinks.ts'

/** The address of the page of a link that works once. */
export const oneTimeAddress = (baseUrl: string, kind: LinkKind, token: string) =>
  `${baseUrl}/account/${kind}?t=${token}`
