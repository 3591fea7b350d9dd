/**
 * The credential that opened a session: a password, by its stored hash; an identity or a passkey, by its token; or a
 * link of an operator.
 */
export type Credential =
  | { readonly kind: 'password'; readonly hash: string | null }
  | { readonly kind: 'identity'; readonly token: string }
  | { readonly kind: 'passkey'; readonly token: string }
  | { readonly kind: 'link'; readonly before: string }

/** The credentials of an account. */
export interface Credentials {
  readonly password: string | null
  readonly identities: readonly { readonly token: string; readonly issuer?: string | null }[]
  readonly passkeys: readonly { readonly token: string }[]
}

/** Returns the credential of an operator's link: any change of the others ends it. */
export const linkCredential = ({ password, identities, passkeys }: Credentials): Credential => ({
  kind: 'link',
  before: JSON.stringify([password, ...[...identities, ...passkeys].map(({ token }) => token)]),
})

/** Whether an account still has a credential. */
export const has = (now: Credentials, credential: Credential): boolean => {
  switch (credential.kind) {
    case 'password':
      return now.password === credential.hash
    case 'identity':
      return now.identities.some(({ token }) => token === credential.token)
    case 'passkey':
      return now.passkeys.some(({ token }) => token === credential.token)
    case 'link':
      return JSON.stringify(linkCredential(now)) === JSON.stringify(credential)
  }
}

/** Returns all current credentials of an account. */
export const credentialsOf = (now: Credentials): readonly Credential[] => [
  ...(now.password === null ? [] : [{ kind: 'password', hash: now.password } as const]),
  ...now.identities.map(({ token }) => ({ kind: 'identity', token }) as const),
  ...now.passkeys.map(({ token }) => ({ kind: 'passkey', token }) as const),
  linkCredential(now),
]
