import type { Message } from '../en/messages.ts'

export const messages: Readonly<Record<Message, string>> = {
  'That alias is taken. Please choose another one.': 'Ce nom est déjà pris. Choisissez-en un autre.',
  'is taken. Please choose another one.': 'C’est déjà pris. Choisissez autre chose.',
  'is required.': 'Ce champ est obligatoire.',
  'is required for an overlay of type {type}.': 'Ce champ est obligatoire.',
  'must not be empty.': 'Ce champ ne peut pas être vide.',
  'must not be empty: send an address such as https://example.com/page.':
    'Saisissez une adresse, par exemple https://example.com/page.',
  'must be at most {n} characters long.': '{n} caractères au plus.',
  'must be at least {n} characters long.': '{n} caractères au moins.',
  'must be between {from} and {to}.': 'La valeur doit être comprise entre {from} et {to}.',
  'must have at least {n} entries, or none.': '{n} entrées au moins, ou aucune.',
  'must have at least one of {names}.': 'Choisissez-en au moins une.',
  'must be a web address that starts with http:// or https://.':
    'Saisissez une adresse web qui commence par http:// ou https://.',
  'must not contain whitespace or invisible characters: remove them, or percent-encode them (a space is %20).':
    'L’adresse ne peut contenir ni espaces ni caractères invisibles.',
  'must not contain a user name or password: remove everything up to the @.':
    'L’adresse ne peut contenir ni nom d’utilisateur ni mot de passe : retirez tout jusqu’au @.',
  "must not lead to one of this service's own addresses.": 'L’adresse ne peut pas mener à ce service.',
  'must be at an address on the public internet.': 'L’adresse doit être sur l’internet public.',
  'must be 1 to 64 letters (a-z), digits, hyphens and underscores, and start with a letter or a digit.':
    'De 1 à 64 lettres (a-z), chiffres, traits d’union et tirets bas ; au début, une lettre ou un chiffre.',
  'must not be a reserved word: choose another alias.': 'Ce mot est réservé. Choisissez-en un autre.',
  'must be a future date and time in UTC, for example {example}.': 'Ce moment doit être à venir (UTC).',
  'must be a date and time in UTC, for example {time}, or a day, for example {day}.':
    'Saisissez une date et une heure (UTC), par exemple {time}, ou un jour, par exemple {day}.',
  'must not contain a comma.': 'Ce champ ne peut pas contenir de virgule.',
  'must be a HEX color, for example #1d4ed8 or #fff.': 'Saisissez une couleur HEX, par exemple #1d4ed8 ou #fff.',
  'must be an e-mail address, for example {example}.': 'Saisissez une adresse e-mail, par exemple {example}.',
  'belongs to another account.': 'L’adresse appartient à un autre compte.',
  'The e-mail address or the password is wrong.': 'L’adresse e-mail ou le mot de passe est incorrect.',
  'is not the password of the account.': 'Ce n’est pas le mot de passe du compte.',
  'is wrong. Enter the code that your authenticator app shows now.':
    'Le code est incorrect. Saisissez celui que votre application d’authentification affiche maintenant.',
  'must be an address with http or https, for example {example}.':
    'Saisissez une adresse en http ou https, par exemple {example}.',
  'must be a name, not an IP address.': 'Saisissez un nom, pas une adresse IP.',
  'must be scheme and host only, without port, path or query.':
    'Seulement https:// et le nom, sans port, chemin ni requête.',
  'must be a host that you own, for example {example}.': 'Saisissez un nom qui vous appartient, par exemple {example}.',
  'is one of your domains already, with the id {id}.': 'Vous avez déjà ce domaine.',
  'must be 3 to 64 letters, digits or any of _ . / -.': 'De 3 à 64 lettres, chiffres ou _ . / -.',
  'must be an address or a network, for example {examples}.':
    'Saisissez une adresse ou un réseau, par exemple {examples}.',
}
