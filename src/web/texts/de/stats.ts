import type { Texts } from '../texts.ts'

/** Was die Statistik sagt. */
export const stats: Texts['stats'] = {
  filters: {
    country: 'Land',
    referrer: 'Herkunft',
    device: 'Gerät',
    browser: 'Browser',
    os: 'System',
    language: 'Sprache',
    source: 'Quelle',
    rule: 'Regel',
    variant: 'Variante',
    class: 'Art',
    link: 'Link',
  },
  sources: { link: 'Kurzlink', qr: 'QR-Code', rotator: 'Kampagne', bio: 'Bio-Seite' },
  classes: { human: 'Menschen', bot: 'Bots', preview: 'Link-Vorschauen', prefetch: 'Vorabrufe' },
  rules: { link: 'Ziel', qr: 'QR-Code', bio: 'Bio-Seite', variant: 'Variante', expired_url: 'Nach dem Ende' },
  name: 'Name',
  save: 'Als CSV speichern: {what}',
  orRow: 'oder wählen Sie eine Zeile',
  all: { one: '{n} zeigen', other: '{n} zeigen' },
  fewer: 'Weniger',
  requests: 'Aufrufe',
  scans: 'QR-Scans',
  ofClicks: '{n} % der Klicks',
  exact: 'Exakt bis Ereignis {n}',
  behind: { one: '{n} Sekunde zurück', other: '{n} Sekunden zurück' },
  noEvents: 'Es wurde noch nichts geklickt.',
  noMatch: 'Kein Klick passt zu diesen Filtern',
  noMatchText: 'Entfernen Sie einen Filter, oder wählen Sie einen längeren Zeitraum.',
  live: 'Live-Klicks',
  lastMinute: { one: '{n} in der letzten Minute', other: '{n} in der letzten Minute' },
  pause: 'Anhalten',
  paused: 'Angehalten',
  waiting: 'Klicks erscheinen hier, sobald sie geschehen. Öffnen Sie einen Link, um Ihren zu sehen.',
  notLive: 'Nicht verbunden',
  notLiveText: 'Live-Klicks können gerade nicht gezeigt werden. Die Zahlen stimmen trotzdem.',
  mapLabel: 'Karte der Klicks nach Ländern. Die Liste daneben hat dieselben Zahlen.',
}

export const filters: Texts['filters'] = {
  add: 'Filter hinzufügen',
  remove: 'Filter entfernen: {name} {value}',
  clear: 'Filter entfernen',
}
