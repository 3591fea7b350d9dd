import { accountTexts } from './account/de.ts'
import type { Texts } from './en.ts'

/** The texts of public pages in German. */
export const de: Texts = {
  lang: 'de',
  locale: 'de',
  errorTitle: 'Fehler: #',

  messages: {
    home: {
      title: 'Kurzlinks',
      text: 'Unter dieser Domain gibt es Kurzlinks. Um einem Link zu folgen, verwenden Sie seine vollständige Adresse.',
    },
    notFound: {
      title: 'Link nicht gefunden',
      text: 'Unter dieser Adresse gibt es keinen Kurzlink. Vielleicht enthält sie einen Tippfehler, oder der Link wurde gelöscht.',
      next: [
        'Vergleichen Sie die Adresse mit dem Original. Groß- und Kleinschreibung spielt keine Rolle.',
        'Fragen Sie die Person, die den Link mit Ihnen geteilt hat.',
      ],
    },
    expired: {
      title: 'Dieser Link ist abgelaufen',
      text: 'Er war bis zum # gültig und führt nirgendwohin mehr.',
      next: ['Bitten Sie die Person, die ihn geteilt hat, um einen neuen Link, oder suchen Sie die Seite selbst.'],
    },
    usedUp: {
      title: 'Dieser Link hat seine Grenze erreicht',
      text: 'Er konnte nur begrenzt oft geöffnet werden und führt nirgendwohin mehr.',
      next: ['Bitten Sie die Person, die ihn geteilt hat, um einen neuen Link, oder suchen Sie die Seite selbst.'],
    },
    loop: {
      title: 'Dieser Link funktioniert nicht mehr',
      text: 'Sein Ziel ist selbst ein Kurzlink und kann deshalb nicht geöffnet werden.',
      next: ['Bitten Sie die Person, die ihn mit Ihnen geteilt hat, um einen neuen Link.'],
    },
    methodNotAllowed: {
      title: 'Diese Anfrage wird nicht unterstützt',
      text: 'Diese Adresse kann nur als Seite geöffnet werden.',
      next: ['Öffnen Sie den Link in einem Browser.'],
    },
    tooManyRequests: {
      title: 'Zu viele Anfragen',
      text: 'Aus Ihrem Netz kamen viele Anfragen nach unbekannten Adressen oder neuen Bildern. Bitte versuchen Sie es in einer Minute noch einmal.',
    },
    postOnly: {
      title: 'Dieses Formular kann nicht allein geöffnet werden',
      text: 'Öffnen Sie den Kurzlink, der das Formular zeigt, und senden Sie Ihre Antwort von dort.',
    },
    passwordTooLong: {
      title: 'Dieses Passwort ist zu lang',
      text: 'Ein Passwort hat höchstens 1.024 Zeichen. Bitte gehen Sie zurück und versuchen Sie es noch einmal.',
    },
    unavailable: {
      title: 'Dieser Link kann gerade nicht geöffnet werden',
      text: 'Das Problem liegt bei uns und ist meist nach wenigen Sekunden behoben. Der Link selbst ist in Ordnung.',
    },
    failed: {
      title: 'Etwas ist schiefgegangen',
      text: 'Das Problem liegt bei uns. Bitte versuchen Sie es später noch einmal.',
    },
  },
  help: {
    next: 'Was Sie tun können',
    tryAgain: 'Noch einmal versuchen',
    reference: 'Wenn es weiter auftritt, nennen Sie uns diese Referenz: #',
    goTo: 'Zu # gehen',
  },

  anatomy: {
    shortLink: 'Kurzlink',
    servedBy: 'Diese Adresse wird von # bereitgestellt.',
    about: 'Über diesen Link',
    privacy: 'Datenschutzerklärung',
    imprint: 'Impressum',
  },

  blocked: {
    title: 'Dieser Link ist zu Ihrer Sicherheit gesperrt',
    text: 'Er wurde als schädlich gemeldet, deshalb öffnen wir ihn nicht. Von seinem Ziel wurde nichts geladen.',
    entered: {
      title: 'Wenn Sie dort schon ein Passwort eingegeben haben',
      text: 'Ändern Sie dieses Passwort sofort, auch überall sonst, wo Sie es verwenden.',
    },
    owner: {
      title: 'Wenn das Ihr Link ist',
      text: 'Sie können den Betreiber dieses Dienstes bitten, ihn noch einmal zu prüfen.',
    },
    review: 'Prüfung anfordern',
  },

  report: {
    title: 'Diesen Link melden',
    text: 'Sagen Sie uns, was nicht stimmt.',
    link: 'Kurzlink',
    reason: 'Was stimmt nicht?',
    reasons: {
      phishing: { label: 'Er fragt nach Passwörtern oder Zahlungsdaten', note: 'Phishing oder Betrug' },
      malware: { label: 'Er bietet schädliche Software an', note: 'Schadsoftware oder unerwünschte Downloads' },
      spam: { label: 'Ich habe ihn als Spam erhalten', note: '' },
      illegal: { label: 'Er zeigt rechtswidrige Inhalte', note: '' },
      other: { label: 'Etwas anderes', note: '' },
      unblock: { label: 'Er ist gesperrt, obwohl er harmlos ist', note: '' },
    },
    details: 'Einzelheiten (freiwillig)',
    detailsHint: 'Wo haben Sie den Link gefunden, und was ist beim Öffnen geschehen?',
    email: 'Ihre E-Mail-Adresse (freiwillig)',
    emailHint: 'Wir verwenden sie nur, um Ihnen zu antworten. Wem der Link gehört, erfährt sie nicht.',
    submit: 'Meldung senden',
    problems: {
      link: 'Unter dieser Adresse gibt es keinen Kurzlink.',
      reason: 'Wählen Sie aus, was mit dem Link nicht stimmt.',
      details: 'Die Einzelheiten können höchstens 1.000 Zeichen haben.',
      email:
        'Geben Sie eine vollständige E-Mail-Adresse ein, zum Beispiel ann@example.com, oder lassen Sie das Feld leer.',
      form: 'Dieses Formular ist abgelaufen. Bitte senden Sie es noch einmal.',
      tooMany: {
        one: 'Sie haben zu viele Meldungen gesendet. Bitte versuchen Sie es in # Minute noch einmal.',
        other: 'Sie haben zu viele Meldungen gesendet. Bitte versuchen Sie es in # Minuten noch einmal.',
      },
    },
    sent: {
      title: 'Ihre Meldung wurde gesendet',
      text: 'Vielen Dank. Ein Mensch sieht sie sich an. Wenn der Link schädlich ist, funktioniert er für niemanden mehr.',
      reference: 'Ihr Aktenzeichen',
      note: 'Nennen Sie es, wenn Sie uns zu dieser Meldung schreiben. Sie können diese Seite jetzt schließen.',
    },
  },

  password: {
    title: 'Dieser Link ist geschützt',
    text: 'Geben Sie das Passwort ein, das Sie mit dem Link erhalten haben.',
    field: 'Passwort',
    submit: 'Weiter',
    show: 'Anzeigen',
    showLabel: 'Passwort anzeigen',
    wrong:
      'Dieses Passwort ist nicht richtig. Achten Sie auf Groß- und Kleinschreibung und versuchen Sie es noch einmal.',
    wrongTitle: 'Dieses Passwort ist nicht richtig',
    noPassword: 'Kein Passwort? Fragen Sie die Person, die diesen Link mit Ihnen geteilt hat.',
    limit: {
      title: 'Zu viele Versuche',
      text: {
        one: 'Um diesen Link zu schützen, können aus Ihrem Netzwerk in der nächsten Minute keine Passwörter versucht werden.',
        other:
          'Um diesen Link zu schützen, können aus Ihrem Netzwerk in den nächsten # Minuten keine Passwörter versucht werden.',
      },
      ask: 'Fragen Sie die Person, die den Link geteilt hat, nach dem Passwort.',
      after: 'Versuchen Sie es nach # noch einmal.',
    },
  },

  redirecting: {
    leadsTo: 'Dieser Link führt zu',
    redirectingTo: 'Weiterleitung zu',
    timeLeft: { one: 'In # Sekunde', other: 'In # Sekunden' },
    progress: 'Zeit bis zur Weiterleitung',
    continueNow: 'Jetzt weiter',
    continue: 'Weiter',
    stay: 'Auf dieser Seite bleiben',
    stopped: 'Die Weiterleitung ist angehalten. Sie können jederzeit fortfahren.',
    notEncrypted:
      'Diese Website ist nicht verschlüsselt: Andere können lesen und verändern, was Sie dort sehen und senden.',
  },

  splash: { title: 'Sie werden weitergeleitet', product: 'Zum Produkt' },

  pixels: {
    measured: 'Mit diesem Link werden Besuche durch # gemessen. Die Messung beginnt erst mit der Weiterleitung.',
    measuredHere: 'Mit diesem Link werden Besuche durch # gemessen.',
    without: 'Ohne Messung fortfahren',
    ask: 'Wer diesen Link erstellt hat, möchte Ihren Besuch mit # messen. Ohne Ihre Zustimmung wird nichts gemessen.',
    agree: 'Zustimmen und fortfahren',
    untracked:
      'Ihr Browser bittet darum, nicht verfolgt zu werden. Deshalb wird dieser Besuch nicht von anderen gemessen.',
    about: 'Messung',
  },

  frame: {
    shownBy: 'gezeigt von #',
    open: 'Direkt öffnen',
    report: 'Diesen Link melden',
    reportShort: 'Melden',
    openShort: 'Öffnen',
    notFramed: '# kann nicht innerhalb dieser Seite angezeigt werden.',
  },

  overlay: {
    close: 'Schließen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    actions: {
      message: 'Weiterlesen',
      contact: 'Nachricht senden',
      poll: 'Antwort senden',
      newsletter: 'Abonnieren',
      image: '',
      coupon: 'Gutschein einlösen',
    },
    fields: { name: 'Name (freiwillig)', email: 'E-Mail-Adresse', message: 'Nachricht' },
    goesTo: {
      contact: 'Ihre Nachricht geht an die Person, die diesen Link erstellt hat.',
      poll: 'Ihre Antwort geht an die Person, die diesen Link erstellt hat. Ein Name wird nicht dazu gespeichert.',
      newsletter: 'Ihre Adresse geht an die Person, die diesen Link erstellt hat.',
    },
  },

  answer: {
    thanks: 'Vielen Dank',
    thanksTo: 'Vielen Dank, #',
    sent: {
      contact: 'Ihre Nachricht wurde gesendet.',
      poll: 'Ihre Stimme wurde gezählt.',
      newsletter: 'Ihre Anmeldung wurde gesendet.',
    },
    notSent: 'Ihre Antwort wurde nicht gesendet',
    check: { one: 'Bitte prüfen Sie # Feld.', other: 'Bitte prüfen Sie # Felder.' },
    tryAgain: 'Bitte gehen Sie zurück und versuchen Sie es noch einmal.',
    problems: {
      name: 'Geben Sie Ihren Namen als einfachen Text ein, oder lassen Sie das Feld leer.',
      email: 'Geben Sie eine vollständige E-Mail-Adresse ein, zum Beispiel ann@example.com.',
      message: 'Schreiben Sie eine Nachricht, bevor Sie sie senden.',
      choice: 'Wählen Sie eine der Antworten.',
    },
    tooLong: 'Jedes Feld kann höchstens 1.000 Zeichen haben.',
    tooMany: {
      one: 'Sie haben zu viele Antworten gesendet. Bitte versuchen Sie es in # Sekunde noch einmal.',
      other: 'Sie haben zu viele Antworten gesendet. Bitte versuchen Sie es in # Sekunden noch einmal.',
    },
  },

  account: accountTexts,

  list: {
    empty: 'Diese Liste enthält zurzeit keine Links.',
    passwordRequired: 'Passwort erforderlich',
    newer: 'Neuere',
    older: 'Ältere',
  },
}
