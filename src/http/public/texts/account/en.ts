import { type Mail, message, plural } from '../parts.ts'

const mail = (subject: string, text: string, note: string): Mail => ({ subject, text, note })
const notYou = 'If this was not you, contact the operator of the service.'
const ignore = 'If this was not you, ignore this mail: nothing changes.'

/**
 * What people read about their account, on pages and in mails, in English. In a mail, a link is between the text and
 * the note.
 */
export const accountTexts = {
  fields: {
    email: 'E-mail address',
    password: 'Password',
    passwordHint: 'At least 8 characters.',
    newPassword: 'New password',
  },
  first: {
    title: 'Create the first account',
    text: 'This service has no account yet. Whoever opens this link first creates it.',
    submit: 'Create account',
  },
  created: {
    title: 'Your account is ready',
    text: 'This is your API key. It is shown only now: keep it where you keep your passwords.',
    key: 'API key',
    username: 'Username',
    open: 'Open the dashboard',
  },
  confirm: {
    title: 'Confirm your e-mail address',
    register: '# becomes the address of your new account.',
    email: '# becomes the address of your account.',
    submit: 'Confirm',
  },
  confirmed: message('Your e-mail address is confirmed', 'It is the address of your account from now on.'),
  reset: {
    title: 'Choose a new password',
    text: 'The old one stops working. Your API keys stay valid.',
    submit: 'Set password',
  },
  changed: message('Your password is changed', 'The new one works from now on. Your API keys stay valid.'),
  gone: message('This link no longer works', 'It has expired, or was used already. Ask for a new one.'),
  taken: message('This address has an account already', 'You can set a new password for it instead.'),
  problems: {
    email: 'Enter a complete e-mail address, for example ann@example.com.',
    password: 'Choose a password of 8 to 1,024 characters.',
    tooMany: plural(
      'There were too many attempts. Please try again in # minute.',
      'There were too many attempts. Please try again in # minutes.',
    ),
  },
  mails: {
    register: mail('Confirm your e-mail address', 'To create your account, open this link within 24 hours:', ignore),
    taken: mail(
      'You have an account already',
      'Somebody wanted to use your e-mail address for an account. It is the address of your account already.',
      'If this was you, use that account. If you have forgotten its password, ask for a link to set a new one.',
    ),
    email: mail(
      'Confirm your new e-mail address',
      'To make this the address of your account, open this link within 24 hours:',
      ignore,
    ),
    reset: mail(
      'Set a new password',
      'To choose a new password for your account, open this link within one hour:',
      ignore,
    ),
    emailChanged: mail(
      'The e-mail address of your account was changed',
      'Your account has another e-mail address now. This mail goes to the old one.',
      notYou,
    ),
    passwordChanged: mail('Your password was changed', 'Your account has a new password now.', notYou),
    erasure: mail(
      'Your account will be erased',
      'Your account and everything in it is erased for good on this day. It works until then, and you can cancel it:',
      notYou,
    ),
    webhookDisabled: mail(
      'A webhook was disabled',
      'This webhook of your account sends nothing any more, because its receiver has failed for three days or wants no more messages:',
      'It keeps its place: once the receiver works, enable the webhook, and it continues there.',
    ),
  },
}

/** What each language must have. */
export type AccountTexts = typeof accountTexts
