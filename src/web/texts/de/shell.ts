import type { Texts } from '../texts.ts'

export const nav: Texts['nav'] = {
  label: 'Hauptmenü',
  overview: 'Übersicht',
  links: 'Links',
  qr: 'QR-Codes',
  history: 'Verlauf',
  proof: 'Beweis',
  operator: 'Betreiber',
  campaigns: 'Kampagnen',
  channels: 'Kanäle',
  bio: 'Bio-Seiten',
  splash: 'Zwischenseiten',
  overlays: 'Overlays',
  pixels: 'Pixel',
  domains: 'Domains',
  keys: 'API-Schlüssel',
  webhooks: 'Webhooks',
  more: 'Mehr',
  account: 'Konto',
  settings: 'Konto und Sicherheit',
  api: 'API-Referenz',
  signOut: 'Abmelden',
  create: 'Erstellen',
  createLink: 'Link erstellen',
  search: 'Links suchen',
  searchFor: 'Links, Tags, Ziele suchen',
  help: 'Hilfe',
  skip: 'Zum Inhalt springen',
  utc: 'Zeiten in UTC',
}

export const actions: Texts['actions'] = {
  again: 'Erneut versuchen',
  cancel: 'Abbrechen',
  close: 'Schließen',
  copy: '{what} kopieren',
  hide: 'Verbergen',
  reload: 'Neu laden',
  remove: 'Entfernen',
  save: 'Speichern',
  show: 'Anzeigen',
  undo: 'Rückgängig',
}

export const errors: Texts['errors'] = {
  linksWork: 'Ihre Links funktionieren weiter.',
  newVersion: 'Der Dienst wurde aktualisiert. Laden Sie die Seite neu, um fortzufahren.',
  noScreen: 'Unter dieser Adresse gibt es nichts',
  noScreenText: 'Vielleicht enthält sie einen Tippfehler, oder der Inhalt wurde gelöscht.',
  offline: 'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung.',
  slow: 'Der Dienst hat nicht rechtzeitig geantwortet.',
  tooMany: 'Es waren zu viele Anfragen. Versuchen Sie es in {n} Sekunden erneut.',
  unknown: 'Etwas ist schiefgegangen.',
}

export const toasts: Texts['toasts'] = {
  copied: 'Kopiert:',
  notCopied: 'Ihr Browser erlaubt hier kein Kopieren. Markieren Sie den Text und kopieren Sie ihn.',
  takenBack: 'Die Änderung an {what} wurde zurückgenommen: {reason}',
}

export const help: Texts['help'] = {
  title: 'Tastenkürzel',
  create: 'Link erstellen',
  search: 'Links suchen',
  help: 'Diese Hilfe anzeigen',
  close: 'Schließen oder Auswahl aufheben',
  chart: 'Im ausgewählten Diagramm bewegen',
}

export const signIn: Texts['signIn'] = {
  signIn: 'Anmelden',
  signUp: 'Konto erstellen',
  create: 'Konto erstellen',
  first: 'Das erste Konto anlegen',
  firstText: 'Auf diesem Dienst hat noch niemand ein Konto. Beginnen Sie mit Ihrem.',
  firstPrinted:
    'Auf diesem Dienst hat noch niemand ein Konto. Die Adresse für das erste wurde beim Start des Dienstes ausgegeben.',
  enterCode: 'Code eingeben',
  email: 'E-Mail',
  password: 'Passwort',
  passwordHint: 'Mindestens 8 Zeichen.',
  code: 'Code aus Ihrer Authenticator-App',
  codeHint: '6 Ziffern, alle 30 Sekunden neu.',
  recoveryCode: 'Wiederherstellungscode',
  recoveryHint: 'Jeder gilt einmal.',
  useApp: 'Authenticator-App verwenden',
  useRecovery: 'Stattdessen einen Wiederherstellungscode verwenden',
  change: 'Ändern',
  forgotten: 'Passwort vergessen?',
  reset: 'Link für ein neues Passwort senden',
  askOperator: 'Bitten Sie den Betreiber dieses Dienstes um ein neues.',
  noAccount: 'Konto erstellen',
  haveAccount: 'Ich habe ein Konto',
}

export const past: Texts['past'] = {
  label: 'Zeit',
  moment: 'Gezeigter Zeitpunkt',
  now: 'Jetzt',
  utc: '{time} UTC',
  shown: 'Sie sehen die Vergangenheit, nur lesbar · {ago}',
  screenOfNow: 'Diese Seite hat keine Vergangenheit: Sie zeigt die Gegenwart',
  readOnly: 'Nur lesbar',
  readOnlyWhy: 'Sie sehen die Vergangenheit, die sich nicht ändern lässt. Gehen Sie zuerst zurück zum Jetzt.',
  previous: 'Vorige Änderung',
  next: 'Nächste Änderung',
  back: 'Zurück zum Jetzt',
  choose: 'Zeitpunkt wählen',
  chooseHint: 'In UTC. Alles wird gezeigt, wie es damals war.',
  go: 'Anzeigen',
}
