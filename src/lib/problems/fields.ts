import { forms, types } from './forms.ts'
import { notYours } from './kinds.ts'

/**
 * What may be wrong with a field of a request, in English. `{field}` is the name of the field; the other names in
 * braces are parameters, and `{max, number}` is one with separators. A reason with several texts has them by the
 * parameter `what`; `plain` is the one without it.
 */
export const fieldTexts = {
  not_valid: '{field} is not valid.',
  required: '{field} is required.',
  required_here: {
    encryption: '{field} is required with WPA and WEP.',
    overlay: '{field} is required for an overlay of type {type}.',
    fname_or_lname: '{field} or `lname` is required.',
    second_factor: '{field} is required: this account has a second factor.',
    email_or_password: 'At least one of `email`, `password` and `timezone` is required.',
  },
  empty: {
    plain: '{field} must not be empty.',
    address: '{field} must not be empty: send an address such as https://example.com/page.',
    reason: '{field} must say why: it is stored in the log, and accounts that use a blocked destination read it.',
  },
  not_one_of: {
    plain: '{field} must be one of {values}.',
    only: '{field} must be {values}.',
    quoted: '{field} must be `{values}`.',
    any: '{field} must be any of {values}.',
    some: '{field} must be some of {values}.',
    any_separated: '{field} must be any of {values}, separated by commas.',
    several: '{field} must be one or more of {values}, separated by commas.',
    event_types: '{field} must be one or more of the types of events, such as LinkCreated, separated by commas.',
    webhook_events:
      '{field} must be `*`, `clicks`, or a type of event such as LinkCreated; docs/webhooks.md lists them.',
    operation: '{field} must be create, update or delete.',
    image: '{field} must be png or svg.',
    encryption: '{field} must be WPA, WEP or nopass.',
    corner: '{field} must be bl, br, tl or tr (bottom or top, left or right).',
    answer: '{field} must be one of the answers to choose from.',
    redirect:
      '{field} must be direct, frame or splash, or one of your splash pages (splash-7) or overlays (overlay-7).',
    countries: '{field} must be codes of countries, such as DE,US, or `none`.',
    true: '{field} must be true, or not be sent.',
  },
  wrong_type: types,
  wrong_form: forms,
  wrong_address: {
    app: '{field} must be a whole address, for example mailto:ann@example.com, tel:+15550100199, sms:+15550100199 or geo:52.52,13.41.',
    scheme: '{field} must start with one of {values}.',
    web: '{field} must be a web address that starts with http:// or https://.',
    host: '{field} must have a valid host and port: send an address such as https://example.com/page.',
    origin: '{field} must be an address with http or https, for example https://go.example.com.',
    path: '{field} must be scheme and host only, without port, path or query.',
    number: '{field} must be a name, not an IP address.',
    suffix: '{field} must be a host that you own, for example https://go.example.com.',
    http: '{field} must be an http or https address.',
    port: '{field} must be on port 80 or 443.',
    private: '{field} must be at an address on the public internet.',
  },
  forbidden_characters: {
    plain: '{field} must not contain NUL characters or lone surrogates.',
    comma: '{field} must not contain a comma.',
    control: '{field} must not contain control characters.',
    invisible: '{field} must not contain control characters or invisible ones.',
    line: '{field} must be a single line without control characters.',
    whitespace:
      '{field} must not contain whitespace or invisible characters: remove them, or percent-encode them (a space is %20).',
    backslash: '{field} must not contain a backslash: use /, or %5C for the character itself.',
    credentials: '{field} must not contain a user name or password: remove everything up to the @.',
  },
  reserved: '{field} must not be a reserved word: choose another alias.',
  repeated: {
    answer: '{field} must not contain the same answer twice.',
    row: '{field} is also in row {row}: send each link once.',
    variant: '{field} must be the id of another variant of this link. Leave it out for a new variant.',
    entry: '{field} must be the id of another entry of this page. Leave it out for a new entry.',
    header: 'The header must have each field once; it has `{name}` twice.',
  },
  in_past: '{field} must be a future date and time in UTC, for example 2030-01-31 18:00:00.',
  in_future: { plain: '{field} must not be in the future.', event: '{field} must not be later than the newest event.' },
  wrong_order: {
    to: '{field} must be before `to`.',
    expiry: '{field} must be before `expiry`: send an earlier start or a later expiry.',
    from: '{field} must be after `from`: no event is between them.',
    newest: '{field} must be the newest reclassification, {id}: take that back first.',
  },
  not_kept: {
    plain: '{field} must be {first} or later: clicks of that time are no longer kept one by one.',
    later: '{field} must be later: clicks of that time are no longer kept one by one.',
    rehearsal: '{field} must be {first} or later: older clicks are no longer kept one by one.',
    limit: '{field} cannot be rehearsed: not all clicks of the link are kept one by one.',
  },
  too_much: {
    intervals: '{field} must be longer: there are more than {max, number} between `from` and `to`.',
    visits:
      '{field} must be later, or `link` must name one link: it has {visits, number} visits, and at most {max, number} are read one by one.',
    append:
      '{field} reaches as far as one append of the log, 1 MiB, and these rows need more: send fewer at once (about 900 short ones fit), or leave `atomic` out.',
  },
  present_only: {
    plain: '{field} is not available here: this answer is of the present only.',
    replay:
      '{field} is not available: this service does not keep the past (KEEP_PAST is off), or it is a replay, whose moment is fixed.',
    service: '{field} is not available in this service.',
    change: '{field} must not be sent with a request that changes something.',
    operator: '{field} must not be sent here: operators see the present.',
    proof: '{field} must not be sent here: the proof is that of the whole log.',
    deliveries: '{field} must not be sent here: deliveries are not in the log.',
    misses: '{field} must not be sent here: addresses that lead nowhere are not in the log.',
    imports: '{field} must not be sent here: how far an import is, is of the present.',
    approvals: '{field} must not be sent here: what waits for approval is of the present.',
    sessions: '{field} must not be sent here: sessions are those of the present.',
    reclassifications: '{field} must not be sent here: what runs in the background is of the present.',
    export:
      '{field} must not be sent here: an export is of the present, and has the history of everything in `events`.',
    stream: '{field} must not be sent here: a stream is read from one event to another, by `from` and `limit`.',
  },
  not_supported: {
    csv: '{field} must not be true for CSV: ask for application/x-ndjson or text/event-stream.',
    key: '{field} must not have `{name}`. It can have {values}.',
    scheme: '{field} cannot be used with a destination that starts with {scheme}: only a web address can have it.',
    group: '{field} cannot be combined with `group=request`: leave one of them out.',
    condition: 'This address does not support {field}: leave it out.',
    atomic:
      '{field} needs an event store that stores many streams as one: PostgreSQL. This service keeps its log in EventStoreDB. Leave `atomic` out; each row has its own result.',
    other_aliases: '{field} must be `{value}`: the domain had such aliases before, and keeps them.',
    main_address: 'This is the main address of the link: make another one its main address first.',
    column: '{field} is no field of these rows: it was left out.',
    parameter: '{field} is no parameter here: there are `op`, `dryRun` and `atomic`.',
  },
  not_alone: {
    plain: '{field} must be sent alone.',
    moment: 'Only one of `revision` and `at` can be sent.',
  },
  not_yours: {
    ...notYours,
    links: '{field} must be ids of your links: there is no link {id}.',
    campaigns: '{field} must be ids of your campaigns: there is no campaign {id}.',
    channels: '{field} must be ids of your channels: there is no channel {id}.',
    domains: '{field} must be ids of your domains: there is no domain {id}.',
    host: '{field} must be a domain of your account.',
  },
  own_address: {
    plain: "{field} must not lead to one of this service's own addresses.",
    host: "{field} must not be one of this service's own.",
    code: '{field} must not lead to a QR code of this service.',
  },
  blocked: {
    plain: '{field} must not lead to {rule}, which the operator of this service blocks.',
    reason: '{field} must not lead to {rule}, which the operator of this service blocks: {reason}.',
    host: '{field} is blocked by the operator of this service.',
  },
  not_blockable: {
    host: '{field} cannot be used: "{input}" is not a host: write one without port and path, such as evil.example.',
    pattern:
      '{field} cannot be used: "{input}" is not a pattern: write a host and a path with *, such as sites.example/view/evil*.',
    link: '{field} cannot be used: "{input}" is not a short link: write its address, its alias, or id:7.',
    foreign: '{field} cannot be used: {input} is neither the host of BASE_URL nor a branded domain.',
    unknown: '{field} cannot be used: there is no short link {input}.',
  },
  not_fetched: {
    redirect: '{field} must not redirect: send the address that it redirects to.',
    status: '{field} could not be fetched: its server responded with status {status}.',
    timeout: '{field} could not be fetched: its server did not respond within 5 seconds.',
    slow: '{field} could not be fetched: its server did not respond within a minute.',
    unreachable: '{field} could not be fetched: its server could not be reached.',
  },
  bad_picture: {
    plain: '{field} is not a readable image.',
    type: '{field} must be a PNG or JPEG image.',
    address:
      '{field} must be an http or https address of a PNG or JPEG image, or a URL that starts with data:image/png;base64, or data:image/jpeg;base64,.',
    truncated: '{field} is not a readable PNG: it is truncated.',
    checksum: '{field} is not a readable PNG: a chunk has a wrong checksum.',
    header: '{field} is not a readable PNG: it must have exactly one header, as its first chunk.',
    size: '{field} is not a readable PNG: its data does not have the size that its header states.',
    animated: '{field} must not be animated.',
    costly: '{field} takes too long or too much memory to decode.',
  },
  low_contrast:
    '{field} must differ more from `background`: their contrast is {contrast}:1 and must be at least {min}:1.',
  wrong_password: {
    plain: '{field} is not the password of the account.',
    sign_in: 'The e-mail address or the password is wrong.',
    changed: 'Another password was set for the account meanwhile. Sign in with that.',
    identity: 'The identity that opened this session was removed meanwhile. Sign in again.',
    passkey: 'The passkey that opened this session was removed meanwhile. Sign in again.',
  },
  wrong_code: {
    plain: '{field} is wrong. Enter the code that your authenticator app shows now.',
    used: '{field} was used already. Wait for the next one.',
    recovery: 'This recovery code was used already.',
  },
} as const
