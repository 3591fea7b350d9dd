/** Why a caller lacks the right to do something, in English. The form of the texts is that of `fields.ts`. */
export const rightTexts = {
  key_required: 'A valid API key is required to use this service.', // clients compare this text
  key_ended: {
    plain: 'This API key does not work any more.',
    expired:
      'This API key has expired. Create a new one with another key of the account, or request one from the operator of this service.',
    rotated: 'This API key has expired. Add a new one instead.',
    session: 'The password has changed since, or the session was ended. Ask for it again.',
  },
  confirmation_needed: {
    plain: 'This session must enter its password again first: POST /api/session/confirm. It counts for ten minutes.',
    identity:
      'This session must sign in again with the issuer first: POST /api/session/confirm/identity. It counts for ten minutes.',
    passkey:
      'This session must use a passkey again first: POST /api/session/confirm/passkey. It counts for ten minutes.',
  },
  last_identity: {
    plain:
      'The account has no password, so there would be no way to sign in without this identity. Set a password, add a passkey or link another identity first.',
    passkey:
      'There would be no way to sign in to the account without this passkey. Add another passkey, set a password or link an identity first.',
  },
  wrong_passkey: {
    plain: 'The passkey was not accepted: its answer is not valid here.',
    challenge:
      'This took longer than five minutes, was begun in another browser, or was answered already. Begin again.',
    unknown: 'No account has this passkey: it was removed, or belongs to another service. Sign in in another way.',
    other: 'This passkey belongs to another account. Use one of this account.',
    counter:
      'This passkey may have been copied: it has counted fewer uses than before. Remove it, and add another one.',
  },
  passwords_off:
    'Passwords are turned off on this service (`PASSWORD_SIGN_IN`). Sign in with its issuer or a passkey. API keys work as before.',
  lacks_scope: {
    plain: 'This API key needs the scope {scopes}.',
    password: 'This API key needs the scope `account`, or `current_password`.',
    account: 'This needs an API key with the scope `account`.',
    operator: 'Only an operator who is signed in on the dashboard may do this.',
    receiver: '{field} must not change while the webhook sends `{type}`, unless your API key has the scope `account`.',
    events: '{field} must not contain `{type}` unless your API key has the scope `account`.',
  },
  lacks_rights: {
    key: 'Your API key lacks rights of this key: you may limit it further, but not extend it.',
    scope: '{field} must not contain `{scope}`, which your API key does not have.',
    expires: '{field} must not be later than that of your API key.',
    addresses: '{field} must be within those of your API key.',
    limited_key: 'Only an API key with all scopes, no end and no networks gives people access to the account.',
    network: 'This API key must not be used from this address.',
    role: 'Your role in this account does not allow this: it is `{role}`.',
    first_owner: 'The sign-in of the account stays its owner.',
    last_owner: 'This is the last owner of a team account: make another member an owner first, or erase the account.',
    own_sign_in: 'This is no team account: the person who signs in to it erases it.',
    no_registration: 'Accounts are closed here (`REGISTRATION`): an operator who is signed in can add a team account.',
    erases: 'This account is about to be erased: cancel that first.',
    no_sign_in: 'This is a team account, which has no sign-in of its own.',
    no_owner: 'This member is no owner: make them one first.',
    operator_account: 'This is the account of an operator: `linkledger account operator --remove` first.',
    sign_in_ends: 'The sign-in of this account ends: it becomes a team account.',
    has_memberships: 'This account is a member of other accounts: leave them first.',
    has_members: 'This account has other members. Remove them first.',
    limited: 'You see a part of this account only. This is about all of it.',
    domain: 'You may not use this domain of the account.',
    unlimited: 'An owner or admin has all domains of the account: leave out {field}.',
    own_proposal: 'You proposed this change: a second person has to approve it.',
    alone: 'No second person in this account can approve changes: invite an editor, admin or owner first.',
    managed: 'The issuer manages this role by the groups of the person: change them there.',
    owners: 'Only an owner gives and takes the role `owner`.',
    lost: 'You may not do this any more: your key or session has ended, or your role in this account has changed.',
    maker: 'Only the member who has made this key can replace it. End it, and make one of your own.',
    person: 'A key of a member cannot change how the account is signed in to.',
  },
  not_dashboard: {
    sign_in: 'Sign in on the dashboard of this service. Programs send an API key instead.',
    session: 'This request was not sent by a session of the dashboard.',
    proxy: 'This request did not come through the proxy that signs people in, or it names no person.',
    other_site: 'This request must not come from a page of another site.',
  },
} as const
