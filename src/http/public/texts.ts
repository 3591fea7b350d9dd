import { type Html, html } from './html.ts'

/** A page with a heading and a sentence or two. */
interface Message {
  readonly title: string
  readonly text: string
}
const message = (title: string, text: string): Message => ({ title, text })

const inMinutes = (seconds: number) => {
  const minutes = Math.max(1, Math.ceil(seconds / 60))
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}
const inSeconds = (seconds: number) => (seconds === 1 ? '1 second' : `${seconds} seconds`)

/** Every text that visitors of public pages read, in English. `Html` values are markup around a host or a number. */
export const texts = {
  messages: {
    home: message('Linkledger', 'This domain serves short links. To follow a link, use its complete address.'),
    notFound: message(
      'Link not found',
      'There is no short link at this address. It may contain a typing error, or its owner may have deleted it.',
    ),
    expired: message(
      'This link has expired',
      'Its owner set an end date, which has passed. Ask the person who shared it with you for a new link.',
    ),
    loop: message(
      'This link no longer works',
      'Its destination is a short link itself, so it cannot be opened. Ask the person who shared it with you for a new link.',
    ),
    methodNotAllowed: message('This request is not supported', 'Open the link in a browser.'),
    postOnly: message(
      'This form cannot be opened by itself',
      'Open the short link that shows the form, and send your answer from there.',
    ),
    passwordTooLong: message(
      'This password is too long',
      'A password has at most 1,024 characters. Please go back and try again.',
    ),
    unavailable: message(
      'This link cannot be opened right now',
      'The problem is on our side and is usually over within a few seconds. Please try again.',
    ),
    failed: message(
      'Something went wrong',
      'The problem is on our side. Please try again later. If it keeps happening, contact the operator of this service.',
    ),
  },

  password: {
    title: 'This link is protected',
    text: 'Enter the password that you received with the link.',
    field: 'Password',
    submit: 'Continue',
    wrong: 'This password is not correct. Check capital letters and try again.',
    tooManyAttempts: (seconds: number) => `Too many attempts. Please try again in ${inMinutes(seconds)}.`,
  },

  redirecting: {
    title: (host: string) => `Redirecting to ${host}`,
    heading: (host: Html) => html`Redirecting to ${host}`,
    countdown: (host: Html, seconds: Html) => html`Redirecting to ${host}. Seconds left: ${seconds}`,
    continueNow: 'Continue now',
    continue: 'Continue',
  },

  splash: { title: 'You are being redirected' },

  frame: {
    open: 'Open directly',
    notFramed: (host: Html) => html`${host} cannot be shown inside this page.`,
  },

  overlay: {
    message: { name: 'Message', action: 'Read more' },
    contact: { name: 'Contact', action: 'Send message' },
    poll: { name: 'Poll', action: 'Vote' },
    newsletter: { name: 'Newsletter', action: 'Subscribe' },
    image: { name: 'Image', action: '' },
    coupon: { name: 'Coupon', action: 'Use coupon' },
    fields: { name: 'Name (optional)', email: 'E-mail address', message: 'Message' },
  },

  answer: {
    thanks: 'Thank you',
    sent: {
      contact: 'Your message was sent.',
      poll: 'Your vote was counted.',
      newsletter: 'Your subscription was sent.',
    },
    continueTo: (host: string) => `Continue to ${host}`,
    notSent: 'Your answer was not sent',
    tryAgain: 'Please go back and try again.',
    problems: {
      name: 'Enter your name in plain text, or leave the field empty.',
      email: 'Enter a complete e-mail address, for example ann@example.com.',
      message: 'Write a message before you send it.',
      choice: 'Choose one of the answers.',
    },
    tooLong: 'Each field can have at most 1,000 characters.',
    tooMany: (seconds: number) => `You have sent too many answers. Please try again in ${inSeconds(seconds)}.`,
  },

  list: {
    empty: 'This list has no links at the moment.',
    passwordRequired: 'Password required',
    newer: 'Newer',
    older: 'Older',
  },
} as const
