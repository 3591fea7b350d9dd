import type { Texts } from '../texts.ts'

/** Ce que disent les statistiques. */
export const stats: Texts['stats'] = {
  filters: {
    country: 'Pays',
    referrer: 'Provenance',
    device: 'Appareil',
    browser: 'Navigateur',
    os: 'Système',
    language: 'Langue',
    source: 'Source',
    rule: 'Règle',
    variant: 'Variante',
    class: 'Type',
    link: 'Lien',
  },
  sources: { link: 'Lien court', qr: 'Code QR', rotator: 'Campagne', bio: 'Page bio' },
  classes: { human: 'Personnes', bot: 'Robots', preview: 'Aperçus de liens', prefetch: 'Préchargements' },
  rules: { link: 'Destination', qr: 'Code QR', bio: 'Page bio', variant: 'Variante', expired_url: 'Après la fin' },
  name: 'Nom',
  save: 'Enregistrer en CSV : {what}',
  orRow: 'ou choisissez une ligne ci-dessous',
  all: { one: 'Afficher {n}', other: 'Afficher {n}' },
  fewer: 'Moins',
  requests: 'Requêtes',
  scans: 'Scans QR',
  ofClicks: '{n} % des clics',
  exact: 'Exact jusqu’à l’événement {n}',
  behind: { one: '{n} seconde de retard', other: '{n} secondes de retard' },
  noEvents: 'Aucun clic pour l’instant.',
  noMatch: 'Aucun clic ne correspond à ces filtres',
  noMatchText: 'Retirez un filtre ou choisissez une période plus longue.',
  live: 'Clics en direct',
  lastMinute: { one: '{n} dans la dernière minute', other: '{n} dans la dernière minute' },
  pause: 'Pause',
  paused: 'En pause',
  waiting: 'Les clics apparaissent ici dès qu’ils se produisent. Ouvrez un lien pour voir le vôtre.',
  notLive: 'Non connecté',
  notLiveText: 'Les clics en direct ne peuvent pas être affichés pour le moment. Les chiffres restent exacts.',
  mapLabel: 'Carte des clics par pays. La liste à côté contient les mêmes chiffres.',
}

export const filters: Texts['filters'] = {
  add: 'Ajouter un filtre',
  remove: 'Retirer le filtre : {name} {value}',
  clear: 'Retirer les filtres',
}
