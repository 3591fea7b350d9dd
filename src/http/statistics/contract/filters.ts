const filterField = (what: string) => `only clicks with one of these values, separated by commas: ${what}`

/** What the filters of statistics mean, and of the visits behind them. */
export const filterFields = {
  link: 'the id of a link; all links, QR codes and entries of bio pages if not sent',
  campaign: 'the id of a campaign: only clicks on the links that are in it',
  made_by: 'the id of a member: what they, or a key of theirs, have made',
  qr: 'the id of a QR code: its scans, also where they led to a link',
  bio: 'the id of a bio page: clicks on its entries; its views with `rule=view`',
  revision: 'only clicks that this revision of the link, QR code or bio page has sent somewhere',
  destination: 'only clicks that were sent to this URL, as `GET /api/visits` has it',
  channel:
    'the id of a channel: only clicks on the links in it, and on its QR codes and bio pages that lead to no link of yours',
  country: filterField('codes such as `DE,US`'),
  referrer: filterField('hosts'),
  medium: filterField('`direct`, `search`, `social`, `mail`, `ai`, `ads`, `other`'),
  browser: filterField('names such as `Firefox`'),
  os: filterField('names such as `Android`'),
  device: filterField('`desktop`, `mobile`, `tablet`, `other`'),
  language: filterField('codes such as `en`'),
  source: filterField('`link`, `qr`, `rotator`, `bio`'),
  variant: filterField('ids of variants of the link'),
  rule: filterField('`link`, `device:ios`, `browser:safari`, `location:ca`, `language:fr`, `variant:2`, …'),
  class:
    '`human`, `bot`, `preview`, `prefetch`, `assistant` or `excluded`, or several of them: rows of `by` count their visits then',
  classes:
    '`now` (default): classes as they are known now; `then`: those that visits were counted with first, before any reclassification. Visits are read one by one then, where there was one',
  unique: '`true`: only the first clicks of persons, `false`: all others',
} as const
