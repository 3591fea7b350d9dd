import type { AccountTexts } from './en.ts'

const notYou = 'Wenn Sie das nicht waren, wenden Sie sich an den Betreiber des Dienstes.'
const ignore = 'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es ändert sich nichts.'

/** What people read about their account, in German. */
export const accountTexts: AccountTexts = {
  fields: {
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    passwordHint: 'Mindestens 8 Zeichen.',
    newPassword: 'Neues Passwort',
  },
  first: {
    title: 'Das erste Konto anlegen',
    text: 'Dieser Dienst hat noch kein Konto. Wer diesen Link zuerst öffnet, legt es an.',
    submit: 'Konto anlegen',
  },
  created: {
    title: 'Ihr Konto ist bereit',
    text: 'Das ist Ihr API-Schlüssel. Er wird nur jetzt angezeigt: Bewahren Sie ihn bei Ihren Passwörtern auf.',
    key: 'API-Schlüssel',
    username: 'Benutzername',
    open: 'Dashboard öffnen',
  },
  confirm: {
    title: 'E-Mail-Adresse bestätigen',
    register: '# wird die Adresse Ihres neuen Kontos.',
    email: '# wird die Adresse Ihres Kontos.',
    submit: 'Bestätigen',
  },
  confirmed: {
    title: 'Ihre E-Mail-Adresse ist bestätigt',
    text: 'Sie ist ab jetzt die Adresse Ihres Kontos.',
    next: [],
  },
  reset: {
    title: 'Neues Passwort wählen',
    text: 'Das alte gilt dann nicht mehr. Ihre API-Schlüssel bleiben gültig.',
    submit: 'Passwort setzen',
  },
  changed: {
    title: 'Ihr Passwort ist geändert',
    text: 'Ab jetzt gilt das neue. Ihre API-Schlüssel bleiben gültig.',
    next: [],
  },
  gone: {
    title: 'Dieser Link funktioniert nicht mehr',
    text: 'Er ist abgelaufen oder wurde schon verwendet. Fordern Sie einen neuen an.',
    next: [],
  },
  taken: {
    title: 'Diese Adresse hat schon ein Konto',
    text: 'Sie können stattdessen ein neues Passwort dafür setzen.',
    next: [],
  },
  problems: {
    email: 'Geben Sie eine vollständige E-Mail-Adresse ein, zum Beispiel ann@example.com.',
    password: 'Wählen Sie ein Passwort mit 8 bis 1.024 Zeichen.',
    tooMany: {
      one: 'Es gab zu viele Versuche. Bitte versuchen Sie es in # Minute noch einmal.',
      other: 'Es gab zu viele Versuche. Bitte versuchen Sie es in # Minuten noch einmal.',
    },
  },
  mails: {
    register: {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      text: 'Um Ihr Konto anzulegen, öffnen Sie diesen Link innerhalb von 24 Stunden:',
      note: ignore,
    },
    taken: {
      subject: 'Sie haben schon ein Konto',
      text: 'Jemand wollte Ihre E-Mail-Adresse für ein Konto verwenden. Sie ist schon die Adresse Ihres Kontos.',
      note: 'Wenn Sie das waren, verwenden Sie dieses Konto. Wenn Sie das Passwort vergessen haben, fordern Sie einen Link für ein neues an.',
    },
    email: {
      subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse',
      text: 'Damit dies die Adresse Ihres Kontos wird, öffnen Sie diesen Link innerhalb von 24 Stunden:',
      note: ignore,
    },
    reset: {
      subject: 'Neues Passwort setzen',
      text: 'Um ein neues Passwort für Ihr Konto zu wählen, öffnen Sie diesen Link innerhalb einer Stunde:',
      note: ignore,
    },
    emailChanged: {
      subject: 'Die E-Mail-Adresse Ihres Kontos wurde geändert',
      text: 'Ihr Konto hat jetzt eine andere E-Mail-Adresse. Diese E-Mail geht an die alte.',
      note: notYou,
    },
    passwordChanged: {
      subject: 'Ihr Passwort wurde geändert',
      text: 'Ihr Konto hat jetzt ein neues Passwort.',
      note: notYou,
    },
    erasure: {
      subject: 'Ihr Konto wird gelöscht',
      text: 'Ihr Konto und alles darin wird an diesem Tag endgültig gelöscht. Bis dahin funktioniert es, und Sie können das Löschen abbrechen:',
      note: notYou,
    },
    webhookDisabled: {
      subject: 'Ein Webhook wurde abgeschaltet',
      text: 'Dieser Webhook Ihres Kontos sendet nichts mehr, weil sein Empfänger seit drei Tagen nicht antwortet oder keine Nachrichten mehr annehmen will:',
      note: 'Er merkt sich seine Stelle: Schalten Sie ihn wieder ein, sobald der Empfänger funktioniert, dann macht er dort weiter.',
    },
  },
}
