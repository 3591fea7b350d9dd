import { everyKind, keptKinds, kinds, ownedKinds, resourceKinds } from '../../events/kinds.ts'
import { nameTaken } from './kinds.ts'
import { rightTexts } from './rights.ts'

type Gone = `${string} {id} is deleted.${string}`
type Full = `This account has reached its quota of {max, number} ${string}`

/**
 * What may be wrong with a request as a whole, or keep it from being done, wholly or in part, in English. The form of
 * the texts is that of `fields.ts`.
 */
export const requestTexts = {
  not_found: {
    ...everyKind(resourceKinds, (kind) => `${kinds[kind].label} not found.`),
    resource: 'Resource not found.',
    reclassification: 'Reclassification not found.',
    import: 'Import not found.',
    report: 'Report not found.',
    key: 'API key not found.',
    member: 'Member not found.',
    proposal: 'There is no open proposal with this number.',
    invitation: 'This invitation does not work any more. Ask for a new one.',
    session: 'Session not found.',
    identity: 'Identity not found.',
    passkey: 'Passkey not found.',
    issuer: 'This service has no issuer to sign in with: its operator has not set `OIDC_ISSUER`.',
    event: 'Event not found.',
    click: 'Click not found.',
    short: 'There is no such short link.',
    message: 'This webhook has no such message.',
    report_number: 'There is no report {id}.',
    report_text: 'What the visitor wrote in report {id} is erased already.',
    answer: 'Answer not found.',
    answer_text: 'This answer is erased already.',
    block: 'The {kind} {value} is not blocked.',
    address: 'There is nothing at this address.',
    port: 'There is nothing at this address. This port serves {paths}.',
    role: 'This process does not run the `http` role.',
    mail: 'This service sends no mail. Ask its operator for a new password.',
  },
  method_not_allowed: {
    plain: 'This address supports {methods}.',
    replay: 'This is a replay of the service as it was at {moment} UTC: nothing can be changed here.',
  },
  taken: {
    alias: 'That alias is taken. Please choose another one.',
    qr: 'That alias is taken by another QR code. Please choose another one.',
    slug: '{field} is taken. Please choose another one.',
    host: '{field} belongs to another account.',
    email: '{field} belongs to another account.',
    username: '{field} belongs to another account.',
    identity: 'This identity signs in to another account. Remove it there first.',
    passkey: 'This passkey signs in to another account. Remove it there first.',
    member: 'You are a member of this account already.',
    own_host: '{field} is one of your domains already, with the id {id}.',
    reference: 'This reference is in use.',
  },
  id_in_use: {
    plain: 'This id is in use.',
    link: 'This link id is in use.',
    account: 'This account id is in use.',
  },
  not_restorable: {
    ...nameTaken,
    own_host:
      'Domain cannot be restored: `domain` is one of your domains already, with the id {id}. Rename or delete what has the name now, then restore again.',
    key: 'A key that has ended cannot come back. Create a new one with POST /api/key/add.',
    webhook:
      'A webhook that was deleted cannot come back: its secret is gone. Create a new one with POST /api/webhook/add.',
  },
  not_restored: {
    ...everyKind(keptKinds, (kind): Gone => `${kinds[kind].label} {id} is deleted. Restore it, and it counts again.`),
    unverified: 'Domain {id} is not verified, so that visitors get 404. Verify it with POST /api/domain/{id}/verify.',
    reservation: 'Its reservation has ended. Verify the domain again with POST /api/domain/:id/verify.',
    email: 'An e-mail address counts once it is confirmed: send it with PUT /api/account/update.',
    erased: 'It was erased. Set a new one.',
    taken: 'Another link, or a bio page, has the address {address} now.',
    expires: 'That time is over. Set another with PUT /api/key/:id/update.',
    secret: 'A secret that was replaced never comes back: POST /api/webhook/:id/rotate makes a new one.',
    totp: 'A second factor is set up and removed with the current password: POST /api/account/totp.',
  },
  changed: 'The resource has changed: its revision is {revision}. Read it again before you change it.',
  stale: {
    plain: 'The resource was changed after this was proposed. Propose it again.',
    rules: 'The rules were changed after this was proposed. Propose it again.',
    approved: 'This change is approved already.',
    handover: 'This account is being handed over to the member {member} already: name that one.',
    import_file: 'The file of this import is not there any more. Send it again: what was imported stays.',
  },
  account_disabled: {
    plain: 'This account is disabled.',
    given: 'The account is disabled.',
    own: 'Operators cannot disable their own account.',
    directory: 'Your organization has ended your access.',
    operator: 'Only the command line disables the account of an operator: `linkledger account disable`.',
  },
  ...rightTexts,
  quota_exceeded: {
    ...everyKind(
      ownedKinds,
      (kind): Full =>
        `This account has reached its quota of {max, number} ${kinds[kind].many}. Delete some, or ask the operator of this service for more.`,
    ),
    image:
      'This account has reached its quota of {max, number} MB of images. Delete some, or ask the operator of this service for more.',
  },
  too_many_requests: {
    plain: 'Too many requests. Try again in {seconds} seconds.',
    cost: 'This request counts as {cost}, and so many are not left. Try again in {seconds} seconds.',
    size: 'This request counts as {cost}, more than the {limit} of a minute. Send smaller ones.',
    passwords: 'There were too many wrong passwords. Try again in {seconds} seconds.',
    codes: 'There were too many wrong codes. Try again in {seconds} seconds.',
    mails: 'There were too many requests for mails. Try again in {minutes} minutes.',
    network: 'There were too many registrations from your network. Try again in {minutes} minutes.',
    network_minute: 'There were too many registrations from your network. Try again in 1 minute.',
    service: 'There were too many registrations at this service. Try again in {minutes} minutes.',
    service_minute: 'There were too many registrations at this service. Try again in 1 minute.',
    searches: 'This account has {running} searches of histories running. Try again when they are complete.',
    streams: 'This account has {running} streams open, and may have no more. Close one first.',
  },
  still_running: {
    export: 'An export of this account is still running. Try again when it is complete.',
    import: 'An import of this account is still running. Try again when it is done.',
    reclassification: 'A reclassification of this account is still running. Try again when it is complete.',
    rehearsal: 'A rehearsal of this account is still running. Try again when it is complete.',
    request: 'The first request with this `Idempotency-Key` is still running. Try again shortly.',
  },
  busy: {
    changes: 'Too many simultaneous changes to this resource. Please try again.',
    changes_together: 'Too many simultaneous changes to these resources. Please try again.',
    ids: 'No free id could be allocated. Please try again.',
    disk: 'The disk of this service is full. Try again later.',
    exports: 'Too many exports are running right now. Try again shortly.',
    images: 'Too many images are being drawn right now. Try again shortly.',
    logos: 'Too many logos are being processed right now. Try again shortly.',
    passwords: 'Too many passwords are being processed right now. Try again shortly.',
    reclassification: 'A reclassification of another account is still running. Try again shortly.',
    rehearsal: 'A rehearsal of another account is still running. Try again shortly.',
    searches: 'Too many searches of histories are running. Try again shortly.',
    streams: 'Too many streams are open right now. Try again shortly.',
  },
  unavailable: {
    issuer: 'The issuer that signs people in does not answer right now. Try again shortly.',
    database: 'The service cannot reach its database right now. Try again shortly.',
    service: 'The service is too busy, or not ready yet. Try again shortly.',
    tables: 'The read tables are being built for the first time. Try again shortly.',
    behind: 'The service is behind with what has happened, and cannot show this yet. Try again shortly.',
    stopping: 'The service is stopping. Try again shortly.',
    rows: '{stored} of {rows} rows are stored, the others cannot be right now. Send all of them again shortly.',
  },
  changed_by_newer:
    '{resource} was changed by a newer version of Linkledger. This process cannot change it. Try again shortly.',
  not_signed_yet: {
    event: 'The event is not in a signed checkpoint yet. Try again in a minute.',
    click: 'The click is not in a signed checkpoint yet. Try again in a minute.',
  },
  log_damaged:
    'The log is not as it was when it was signed, so there is no receipt. Ask the operator to run `linkledger verify`, which names what has changed.',
  tree_damaged:
    'The hashes of the log do not fit its signed checkpoint, so there is no receipt right now. Ask the operator to run `linkledger verify`, which says what was changed and what to do.',
  internal_error: 'An unexpected error occurred. Please report the request id to the operator of this service.',
  bad_request: {
    plain: 'Bad Request.',
    invalid: 'The request is not valid.',
    timeout: 'Request Timeout.',
    headers: 'Request Header Fields Too Large.',
    hosts: 'The request must have one `Host` header.',
    expectation: 'The service knows no `Expect` but `100-continue`.',
    operator_host:
      'This port answers to IP addresses, `localhost` and names without a dot. Name other hosts in the setting `OPERATOR_HOSTS`.',
    stored: '{message}',
  },
  idempotency_key_used: 'This `Idempotency-Key` was used for another request. Use a new key for each request.',
} as const
