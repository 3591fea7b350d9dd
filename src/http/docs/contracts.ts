import { accountContract } from '../accounts/contract/account.ts'
import { filteredContract } from '../statistics/contract/series.ts'
import type { Contract } from '../api/contract.ts'
import { approvalContract } from '../approvals/contract.ts'
import { importContract } from '../imports/contract.ts'
import { type KindTopic, ofKinds, type Topic } from '../kinds.ts'
import { kinds, type OwnedKind, ownedKinds } from '../../events/kinds.ts'
import { historyContract, restoreContract } from '../history/contract/history.ts'
import { keyContract } from '../accounts/contract/key.ts'
import { memberContract } from '../accounts/contract/member.ts'
import { operatorContract } from '../operator/contract.ts'
import { proofContract } from '../proof/contract.ts'
import { identityContract } from '../accounts/contract/identity.ts'
import { passkeyContract } from '../accounts/contract/passkey.ts'
import { sessionContract } from '../accounts/contract/session.ts'
import { missesContract } from '../statistics/contract/misses.ts'
import { reclassifyContract } from '../statistics/contract/reclassify.ts'
import { visitsContract } from '../statistics/contract/visits.ts'
import { streamContract } from '../streams/contract.ts'

const ofKind: Readonly<Record<OwnedKind, KindTopic>> = ofKinds
/** Additional descriptions of the histories and restores of some kinds, by endpoint. */
const besides = new Map<string, string | undefined>(
  ownedKinds.flatMap((kind) => [
    [`GET /api/${kinds[kind].path}/:id/history`, ofKind[kind].history],
    [`POST /api/${kinds[kind].path}/:id/restore`, ofKind[kind].restore],
  ]),
)
const withBesides = (contract: Contract): Contract =>
  Object.fromEntries(
    Object.entries(contract).map(([endpoint, described]) => {
      const more = besides.get(endpoint)
      return [
        endpoint,
        more === undefined ? described : { ...described, description: `${described.description} ${more}` },
      ]
    }),
  )

/** The names of groups: `QR codes` and `Bio pages`. */
const titleOf = (kind: OwnedKind) => kinds[kind].many.replace(/^[a-z]/, (first) => first.toUpperCase())

/** Every group of the API, in the order of the documentation. */
export const topics: Readonly<Record<string, Topic>> = {
  Account: {
    about: 'Who you are, and how the service reaches you',
    contract: {
      ...accountContract,
      ...filteredContract,
      ...visitsContract,
      ...missesContract,
      ...reclassifyContract,
    },
  },
  'Sign-in': {
    about: 'Sessions of the dashboard, its second factor, passkeys, and who signs in with an issuer',
    contract: { ...sessionContract, ...identityContract, ...passkeyContract },
  },
  'API keys': {
    about: 'Keys for programs and people, each with its scopes, until a time, or from some addresses only',
    contract: keyContract,
  },
  Members: {
    about: 'Who else may act in the account, in which role',
    contract: memberContract,
  },
  Approvals: {
    about: 'Changes of chosen links that a second person has to approve',
    contract: approvalContract,
  },
  ...Object.fromEntries(ownedKinds.map((kind) => [titleOf(kind), ofKind[kind]])),
  Imports: {
    about: 'Links and their counts from other services',
    contract: importContract,
  },
  Streams: {
    about: 'Every change and every click as a line, from the first one on or as they happen',
    contract: streamContract,
  },
  Proofs: {
    about: 'Receipts: the proof that the log has an event or a click, for a reader who may see no other',
    contract: proofContract,
  },
  History: {
    about: 'Who changed what and when, and how to take it back',
    contract: withBesides({ ...historyContract, ...restoreContract }),
  },
  Operator: {
    about: 'What operators see and do on the dashboard. API keys cannot call it',
    contract: operatorContract,
  },
}

export const contracts: Readonly<Record<string, Contract>> = Object.fromEntries(
  Object.entries(topics).map(([title, { contract }]) => [title, contract]),
)
