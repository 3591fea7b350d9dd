export const periods = {
  label: 'Period',
  today: 'Today',
  '7d': '7 days',
  '30d': '30 days',
  quarter: 'Quarter',
  year: 'Year',
  all: 'All',
  custom: 'Custom',
  from: 'From',
  to: 'To',
}

export const totals = {
  label: 'Totals',
  from: 'from {n}',
}

export const chart = {
  counts: 'Clicks',
  chart: 'Chart',
  table: 'Table',
  loading: 'The chart is loading',
  keys: 'The arrow keys move along it.',
  now: 'This period',
  periodBefore: 'Period before',
  clicks: { one: '{n} click', other: '{n} clicks' },
  before: 'Period before: {n}',
  hour: 'Hour',
  day: 'Day',
  month: 'Month',
}

export const by = {
  country: 'Countries',
  referrer: 'Referrers',
  browser: 'Browsers',
  os: 'Systems',
  device: 'Devices',
  language: 'Languages',
  link: 'Links',
  source: 'Sources',
  rule: 'Rules',
  variant: 'Variants',
  class: 'Kinds',
  none: 'None',
  unknown: 'Unknown',
  direct: 'Direct',
}

export const devices = {
  iphone: 'iPhone',
  ipad: 'iPad',
  ios: 'iOS',
  android: 'Android',
  mobile: 'Phone',
  tablet: 'Tablet',
  desktop: 'Desktop',
  windows: 'Windows',
  mac: 'Mac',
  linux: 'Linux',
  other: 'Other',
}

export const overview = {
  title: 'Overview',
  compared: ', compared with {period}',
  clicks: 'Clicks',
  visitors: 'Visitors',
  bots: 'Left out as bots',
  ofVisits: '{n} % of all requests',
  perInterval: { hour: '{what} per hour', day: '{what} per day', month: '{what} per month' },
  topLinks: 'Links, all time',
  allLinks: 'All links',
  noClicks: 'No clicks in this period.',
  quietTitle: 'No clicks in this period',
  quietText: 'Choose a longer one, or share a link.',
}

export const first = {
  title: 'Make your first link',
  lead: 'Paste a long address. You get a short link and a QR code, and its first click appears here a moment after it happens.',
  address: 'Long address',
  shorten: 'Shorten',
  hint: 'You can change the destination, the name and the rules later. Nothing is lost: every change is kept.',
  steps: 'First steps',
  plan: [
    ['Make a link', 'Only the address is needed.'],
    ['Open it yourself', 'Scan its QR code with your phone and watch the click arrive.'],
    ['Give it rules', 'Another destination by device, country or language.'],
    ['Add a second factor', 'An authenticator app, under Account.'],
  ],
}
