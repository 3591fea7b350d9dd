import type { Account, FoundAccount } from '../../http/accounts/contract/account.ts'
import { effect, signal } from '@preact/signals'
import { withoutScheme } from './address.ts'
import { actAs } from './acting.ts'
import { ApiError, changes, foreign, get, request, signedOut } from './api.ts'
import { forgetAnswers } from './load.ts'
import { useZone } from './time.ts'

/** Facts about the service, which its page contains. */
export interface Service {
  /** what short links start with: `https://go.example.com` */
  readonly baseUrl: string
  readonly registration: boolean
  readonly mail: boolean
  /** the name of the issuer that signs people in; empty: none */
  readonly issuer: string
  /** whether that is a proxy in front of the service */
  readonly proxy: boolean
  /** whether people sign in with passwords */
  readonly passwords: boolean
  /** whether the service has no account yet */
  readonly first: boolean
}

const { dataset } = document.documentElement
export const service: Service = {
  baseUrl: dataset['base'] ?? location.origin,
  registration: dataset['registration'] === 'open',
  mail: dataset['mail'] === 'yes',
  issuer: dataset['issuer'] ?? '',
  proxy: dataset['proxy'] === 'yes',
  passwords: dataset['passwords'] !== 'off',
  first: dataset['first'] === 'yes',
}

/** The host and path that short links start with, without a scheme. */
export const shortHost = withoutScheme(service.baseUrl)

/** The signed-in account; null: signed out; undefined: not known yet. */
export const account = signal<Account | null | undefined>(dataset['session'] === 'maybe' ? undefined : null)
/** The role that they act in; for another account than their own, it is known a little later. */
export const role = signal('owner')
/** Why the account is not known. */
export const accountProblem = signal<ApiError | undefined>(undefined)

/** Reads the signed-in account. */
export const readAccount = async (): Promise<void> => {
  try {
    const { data } = await get<FoundAccount>('/api/account')
    accountProblem.value = undefined
    const before = account.peek()
    // the whole page belongs to the account that was signed in before
    if (before && before.id !== data.id) return location.reload()
    useZone(data.timezone)
    actAs(data.id)
    account.value = data
  } catch (error) {
    if (error instanceof ApiError && error.status !== 401) accountProblem.value = error
  }
}

export interface SignIn {
  readonly email: string
  readonly password: string
  readonly code?: string
  /** instead of a code */
  readonly passkey?: unknown
}

/** Signs in. Throws `ApiError`, with `second_factor` in its body when a code is needed. */
export const signIn = async (given: SignIn | { readonly passkey: unknown }): Promise<void> => {
  await request('POST', 'email' in given ? '/api/session' : '/api/session/passkey', given)
  signedOut.value = false
  forgetAnswers()
  await readAccount()
}

export const signOut = async (): Promise<void> => {
  const { address } = await request<{ readonly address?: string }>('DELETE', '/api/session')
  signedOut.value = true
  if (address !== undefined) location.assign(address)
}

/** Keeps the account up to date: clears it when the session ends, and reads it again after changes. */
export const startSession = (): void => {
  effect(() => {
    if (!signedOut.value) return
    forgetAnswers()
    actAs(undefined)
    account.value = null
  })
  effect(() => {
    if (foreign.value) void readAccount()
  })
  effect(() => {
    if (changes.value > 0 && account.peek()) void readAccount()
  })
  if (account.value === undefined) void readAccount()
}
