import type { Texts } from '../texts.ts'

export const periods: Texts['periods'] = {
  label: 'Zeitraum',
  today: 'Heute',
  '7d': '7 Tage',
  '30d': '30 Tage',
  quarter: 'Quartal',
  year: 'Jahr',
  all: 'Alles',
  custom: 'Eigener',
  from: 'Von',
  to: 'Bis',
}

export const totals: Texts['totals'] = {
  label: 'Summen',
  from: 'zuvor {n}',
}

export const chart: Texts['chart'] = {
  counts: 'Klicks',
  chart: 'Diagramm',
  table: 'Tabelle',
  loading: 'Das Diagramm wird geladen',
  keys: 'Mit den Pfeiltasten bewegen.',
  now: 'Dieser Zeitraum',
  periodBefore: 'Zeitraum davor',
  clicks: { one: '{n} Klick', other: '{n} Klicks' },
  before: 'Zeitraum davor: {n}',
  hour: 'Stunde',
  day: 'Tag',
  month: 'Monat',
}

export const by: Texts['by'] = {
  country: 'Länder',
  referrer: 'Herkunft',
  browser: 'Browser',
  os: 'Systeme',
  device: 'Geräte',
  language: 'Sprachen',
  link: 'Links',
  source: 'Quellen',
  rule: 'Regeln',
  variant: 'Varianten',
  class: 'Arten',
  none: 'Keine',
  unknown: 'Unbekannt',
  direct: 'Direkt',
}

export const devices: Texts['devices'] = {
  iphone: 'iPhone',
  ipad: 'iPad',
  ios: 'iOS',
  android: 'Android',
  mobile: 'Telefon',
  tablet: 'Tablet',
  desktop: 'Desktop',
  windows: 'Windows',
  mac: 'Mac',
  linux: 'Linux',
  other: 'Andere',
}

export const overview: Texts['overview'] = {
  title: 'Übersicht',
  compared: ', verglichen mit {period}',
  clicks: 'Klicks',
  visitors: 'Besucher',
  bots: 'Als Bots ausgelassen',
  ofVisits: '{n} % aller Anfragen',
  perInterval: { hour: '{what} pro Stunde', day: '{what} pro Tag', month: '{what} pro Monat' },
  topLinks: 'Links, insgesamt',
  allLinks: 'Alle Links',
  noClicks: 'Keine Klicks in diesem Zeitraum.',
  quietTitle: 'Keine Klicks in diesem Zeitraum',
  quietText: 'Wählen Sie einen längeren, oder teilen Sie einen Link.',
}

export const first: Texts['first'] = {
  title: 'Erstellen Sie Ihren ersten Link',
  lead: 'Fügen Sie eine lange Adresse ein. Sie bekommen einen kurzen Link und einen QR-Code, und der erste Klick erscheint hier kurz nachdem er geschieht.',
  address: 'Lange Adresse',
  shorten: 'Kürzen',
  hint: 'Ziel, Name und Regeln können Sie später ändern. Nichts geht verloren: Jede Änderung wird aufbewahrt.',
  steps: 'Erste Schritte',
  plan: [
    ['Link erstellen', 'Nur die Adresse ist nötig.'],
    ['Selbst öffnen', 'Scannen Sie den QR-Code mit dem Telefon und sehen Sie den Klick ankommen.'],
    ['Regeln hinzufügen', 'Ein anderes Ziel nach Gerät, Land oder Sprache.'],
    ['Zweiten Faktor einrichten', 'Eine Authenticator-App, unter Konto.'],
  ],
}
