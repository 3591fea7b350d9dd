import type { Texts } from '../texts.ts'

export const periods: Texts['periods'] = {
  label: 'Période',
  today: 'Aujourd’hui',
  '7d': '7 jours',
  '30d': '30 jours',
  quarter: 'Trimestre',
  year: 'Année',
  all: 'Tout',
  custom: 'Au choix',
  from: 'Du',
  to: 'Au',
}

export const totals: Texts['totals'] = {
  label: 'Totaux',
  from: 'contre {n}',
}

export const chart: Texts['chart'] = {
  counts: 'Clics',
  chart: 'Graphique',
  table: 'Tableau',
  loading: 'Le graphique se charge',
  keys: 'Les flèches le parcourent.',
  now: 'Cette période',
  periodBefore: 'Période précédente',
  clicks: { one: '{n} clic', other: '{n} clics' },
  before: 'Période précédente : {n}',
  hour: 'Heure',
  day: 'Jour',
  month: 'Mois',
}

export const by: Texts['by'] = {
  country: 'Pays',
  referrer: 'Provenances',
  browser: 'Navigateurs',
  os: 'Systèmes',
  device: 'Appareils',
  language: 'Langues',
  link: 'Liens',
  source: 'Sources',
  rule: 'Règles',
  variant: 'Variantes',
  class: 'Types',
  none: 'Aucune',
  unknown: 'Inconnu',
  direct: 'Direct',
}

export const devices: Texts['devices'] = {
  iphone: 'iPhone',
  ipad: 'iPad',
  ios: 'iOS',
  android: 'Android',
  mobile: 'Téléphone',
  tablet: 'Tablette',
  desktop: 'Ordinateur',
  windows: 'Windows',
  mac: 'Mac',
  linux: 'Linux',
  other: 'Autre',
}

export const overview: Texts['overview'] = {
  title: 'Aperçu',
  compared: ', par rapport à {period}',
  clicks: 'Clics',
  visitors: 'Visiteurs',
  bots: 'Robots écartés',
  ofVisits: '{n} % de toutes les requêtes',
  perInterval: { hour: '{what} par heure', day: '{what} par jour', month: '{what} par mois' },
  topLinks: 'Liens, depuis le début',
  allLinks: 'Tous les liens',
  noClicks: 'Aucun clic dans cette période.',
  quietTitle: 'Aucun clic dans cette période',
  quietText: 'Choisissez-en une plus longue, ou partagez un lien.',
}

export const first: Texts['first'] = {
  title: 'Créez votre premier lien',
  lead: 'Collez une longue adresse. Vous obtenez un lien court et un code QR, et son premier clic apparaît ici un instant après.',
  address: 'Longue adresse',
  shorten: 'Raccourcir',
  hint: 'La destination, le nom et les règles peuvent changer plus tard. Rien n’est perdu : chaque modification est gardée.',
  steps: 'Premiers pas',
  plan: [
    ['Créer un lien', 'L’adresse suffit.'],
    ['L’ouvrir vous-même', 'Scannez son code QR avec votre téléphone et voyez le clic arriver.'],
    ['Lui donner des règles', 'Une autre destination selon l’appareil, le pays ou la langue.'],
    ['Ajouter un second facteur', 'Une application d’authentification, sous Compte.'],
  ],
}
