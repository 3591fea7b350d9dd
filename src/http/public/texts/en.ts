import { accountTexts } from './account/en.ts'
import { message, plural } from './parts.ts'

/** Every text that visitors of public pages read, in English. `#` is replaced with a name or a number. */
export const en = {
  lang: 'en',
  /** of dates and numbers */
  locale: 'en-GB',
  errorTitle: 'Error: #',

  messages: {
    home: message('Short links', 'This domain serves short links. To follow a link, use its complete address.'),
    notFound: message(
      'Link not found',
      'There is no short link at this address. It may contain a typing error, or its owner may have deleted it.',
      'Compare the address with the original. Capital letters make no difference.',
      'Ask the person who shared the link with you.',
    ),
    expired: message(
      'This link has expired',
      'Its owner set it to end on #. It no longer leads anywhere.',
      'Ask the person who shared it for a new link, or look for the page yourself.',
    ),
    usedUp: message(
      'This link has reached its limit',
      'Its owner limited how often it can be opened. It no longer leads anywhere.',
      'Ask the person who shared it for a new link, or look for the page yourself.',
    ),
    loop: message(
      'This link no longer works',
      'Its destination is a short link itself, so it cannot be opened.',
      'Ask the person who shared it with you for a new link.',
    ),
    methodNotAllowed: message(
      'This request is not supported',
      'This address can only be opened as a page.',
      'Open the link in a browser.',
    ),
    tooManyRequests: message(
      'Too many requests',
      'Many requests for unknown addresses or new images came from your network. Please try again in a minute.',
    ),
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
      'The problem is on our side, and it is usually over within a few seconds. The link itself is fine.',
    ),
    failed: message('Something went wrong', 'The problem is on our side. Please try again later.'),
  },
  help: {
    next: 'What you can do',
    tryAgain: 'Try again',
    reference: 'If it keeps happening, tell us this reference: #',
    goTo: 'Go to #',
  },

  anatomy: {
    shortLink: 'Short link',
    servedBy: 'This address is served by #.',
    about: 'About this link',
    privacy: 'Privacy',
    imprint: 'Imprint',
  },

  blocked: {
    title: 'This link is blocked for your safety',
    text: 'It was reported as harmful, so we do not open it. Nothing from its destination was loaded.',
    entered: message(
      'If you entered a password there before',
      'Change that password now, and everywhere else you use it.',
    ),
    owner: message('If this is your link', 'You can ask the operator of this service to look at it again.'),
    review: 'Ask for a review',
  },

  report: {
    title: 'Report this link',
    text: 'Tell us what is wrong.',
    link: 'Short link',
    reason: 'What is wrong with it?',
    reasons: {
      phishing: { label: 'It asks for passwords or payment data', note: 'Phishing or fraud' },
      malware: { label: 'It offers harmful software', note: 'Malware or unwanted downloads' },
      spam: { label: 'I received it as spam', note: '' },
      illegal: { label: 'It shows illegal content', note: '' },
      other: { label: 'Something else', note: '' },
      unblock: { label: 'It is blocked although it is harmless', note: '' },
    },
    details: 'Details (optional)',
    detailsHint: 'Where did you find the link, and what happened when you opened it?',
    email: 'Your e-mail address (optional)',
    emailHint: 'We use it only to answer you. The owner of the link does not see it.',
    submit: 'Send report',
    problems: {
      link: 'There is no short link at this address.',
      reason: 'Choose what is wrong with the link.',
      details: 'Details can have at most 1,000 characters.',
      email: 'Enter a complete e-mail address, for example ann@example.com, or leave the field empty.',
      form: 'This form has expired. Please send it again.',
      tooMany: plural(
        'You have sent too many reports. Please try again in # minute.',
        'You have sent too many reports. Please try again in # minutes.',
      ),
    },
    sent: {
      title: 'Your report was sent',
      text: 'Thank you. A person looks at it. If the link is harmful, it stops working for everyone.',
      reference: 'Your reference',
      note: 'Mention it if you write to us about this report. You can close this page now.',
    },
  },

  password: {
    title: 'This link is protected',
    text: 'Enter the password that you received with the link.',
    field: 'Password',
    submit: 'Continue',
    show: 'Show',
    showLabel: 'Show password',
    wrong: 'This password is not correct. Check capital letters and try again.',
    wrongTitle: 'This password is not correct',
    noPassword: 'No password? Ask the person who shared this link with you.',
    limit: {
      title: 'Too many attempts',
      text: {
        one: 'To protect this link, passwords cannot be tried from your network for the next minute.',
        other: 'To protect this link, passwords cannot be tried from your network for the next # minutes.',
      },
      ask: 'Ask the person who shared the link for the password.',
      after: 'Try again after #.',
    },
  },

  redirecting: {
    leadsTo: 'This link leads to',
    redirectingTo: 'Redirecting to',
    timeLeft: plural('In # second', 'In # seconds'),
    progress: 'Time until you are redirected',
    continueNow: 'Continue now',
    continue: 'Continue',
    stay: 'Stay on this page',
    stopped: 'The redirect is stopped. Continue whenever you are ready.',
    notEncrypted: 'This website is not encrypted: others can read and change what you see and send there.',
  },

  splash: { title: 'You are being redirected', product: 'View the product' },

  pixels: {
    measured: 'The owner of this link measures visits with #. This starts when you are redirected, not before.',
    measuredHere: 'The owner of this link measures visits with #.',
    without: 'Continue without measurement',
    ask: 'The owner of this link would like to measure your visit with #. Nothing is measured unless you agree.',
    agree: 'Agree and continue',
    untracked: 'Your browser asks not to be tracked, so this visit is not measured by others.',
    about: 'Measurement',
  },

  frame: {
    shownBy: 'shown by #',
    open: 'Open directly',
    report: 'Report this link',
    reportShort: 'Report',
    openShort: 'Open',
    notFramed: '# cannot be shown inside this page.',
  },

  overlay: {
    close: 'Close',
    copy: 'Copy',
    copied: 'Copied',
    actions: {
      message: 'Read more',
      contact: 'Send message',
      poll: 'Send answer',
      newsletter: 'Subscribe',
      image: '',
      coupon: 'Use coupon',
    },
    fields: { name: 'Name (optional)', email: 'E-mail address', message: 'Message' },
    goesTo: {
      contact: 'Your message goes to the owner of this link.',
      poll: 'Your answer goes to the owner of this link. No name is stored with it.',
      newsletter: 'Your address goes to the owner of this link.',
    },
  },

  answer: {
    thanks: 'Thank you',
    thanksTo: 'Thank you, #',
    sent: {
      contact: 'Your message was sent.',
      poll: 'Your vote was counted.',
      newsletter: 'Your subscription was sent.',
    },
    notSent: 'Your answer was not sent',
    check: plural('Please check # field.', 'Please check # fields.'),
    tryAgain: 'Please go back and try again.',
    problems: {
      name: 'Enter your name in plain text, or leave the field empty.',
      email: 'Enter a complete e-mail address, for example ann@example.com.',
      message: 'Write a message before you send it.',
      choice: 'Choose one of the answers.',
    },
    tooLong: 'Each field can have at most 1,000 characters.',
    tooMany: plural(
      'You have sent too many answers. Please try again in # second.',
      'You have sent too many answers. Please try again in # seconds.',
    ),
  },

  account: accountTexts,

  list: {
    empty: 'This list has no links at the moment.',
    passwordRequired: 'Password required',
    newer: 'Newer',
    older: 'Older',
  },
}

/** What each language must have. */
export type Texts = typeof en
