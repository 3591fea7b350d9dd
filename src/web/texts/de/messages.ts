import type { Message } from '../en/messages.ts'

export const messages: Readonly<Record<Message, string>> = {
  'That alias is taken. Please choose another one.': 'Dieser Name ist vergeben. Bitte wählen Sie einen anderen.',
  'is taken. Please choose another one.': 'Das ist schon vergeben. Bitte wählen Sie etwas anderes.',
  'is required.': 'Das muss ausgefüllt werden.',
  'is required for an overlay of type {type}.': 'Das muss ausgefüllt werden.',
  'must not be empty.': 'Das darf nicht leer sein.',
  'must not be empty: send an address such as https://example.com/page.':
    'Geben Sie eine Adresse ein, zum Beispiel https://example.com/seite.',
  'must be at most {n} characters long.': 'Höchstens {n} Zeichen.',
  'must be at least {n} characters long.': 'Mindestens {n} Zeichen.',
  'must be between {from} and {to}.': 'Das muss zwischen {from} und {to} liegen.',
  'must have at least {n} entries, or none.': 'Mindestens {n} Einträge oder keiner.',
  'must have at least one of {names}.': 'Wählen Sie mindestens eines aus.',
  'must be a web address that starts with http:// or https://.':
    'Das muss eine Webadresse sein, die mit http:// oder https:// beginnt.',
  'must not contain whitespace or invisible characters: remove them, or percent-encode them (a space is %20).':
    'Die Adresse darf keine Leerzeichen und keine unsichtbaren Zeichen enthalten.',
  'must not contain a user name or password: remove everything up to the @.':
    'Die Adresse darf weder Benutzername noch Passwort enthalten: Entfernen Sie alles bis zum @.',
  "must not lead to one of this service's own addresses.": 'Das darf nicht zu einer Adresse dieses Dienstes führen.',
  'must be at an address on the public internet.': 'Das muss eine Adresse im öffentlichen Internet sein.',
  'must be 1 to 64 letters (a-z), digits, hyphens and underscores, and start with a letter or a digit.':
    '1 bis 64 Buchstaben (a-z), Ziffern, Bindestriche und Unterstriche; am Anfang ein Buchstabe oder eine Ziffer.',
  'must not be a reserved word: choose another alias.': 'Dieses Wort ist reserviert. Bitte wählen Sie ein anderes.',
  'must be a future date and time in UTC, for example {example}.': 'Das muss in der Zukunft liegen (UTC).',
  'must be a date and time in UTC, for example {time}, or a day, for example {day}.':
    'Das muss ein Datum mit Uhrzeit (UTC) sein, zum Beispiel {time}, oder ein Tag, zum Beispiel {day}.',
  'must not contain a comma.': 'Das darf kein Komma enthalten.',
  'must be a HEX color, for example #1d4ed8 or #fff.':
    'Das muss eine Farbe in HEX sein, zum Beispiel #1d4ed8 oder #fff.',
  'must be an e-mail address, for example {example}.': 'Das muss eine E-Mail-Adresse sein, zum Beispiel {example}.',
  'belongs to another account.': 'Die Adresse gehört zu einem anderen Konto.',
  'The e-mail address or the password is wrong.': 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  'is not the password of the account.': 'Das ist nicht das Passwort des Kontos.',
  'is wrong. Enter the code that your authenticator app shows now.':
    'Der Code ist falsch. Geben Sie den ein, den Ihre Authenticator-App jetzt zeigt.',
  'must be an address with http or https, for example {example}.':
    'Das muss eine Adresse mit http oder https sein, zum Beispiel {example}.',
  'must be a name, not an IP address.': 'Das muss ein Name sein, keine IP-Adresse.',
  'must be scheme and host only, without port, path or query.':
    'Nur https:// und der Name, ohne Port, Pfad und Abfrage.',
  'must be a host that you own, for example {example}.':
    'Das muss ein Name sein, der Ihnen gehört, zum Beispiel {example}.',
  'is one of your domains already, with the id {id}.': 'Diese Domain haben Sie schon.',
  'must be 3 to 64 letters, digits or any of _ . / -.': '3 bis 64 Buchstaben, Ziffern oder _ . / -.',
  'must be an address or a network, for example {examples}.':
    'Das muss eine Adresse oder ein Netz sein, zum Beispiel {examples}.',
}
