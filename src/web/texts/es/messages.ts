import type { Message } from '../en/messages.ts'

export const messages: Readonly<Record<Message, string>> = {
  'That alias is taken. Please choose another one.': 'Este nombre ya está ocupado. Elija otro.',
  'is taken. Please choose another one.': 'Ya está ocupado. Elija otro.',
  'is required.': 'Es obligatorio.',
  'is required for an overlay of type {type}.': 'Es obligatorio.',
  'must not be empty.': 'No puede quedar vacío.',
  'must not be empty: send an address such as https://example.com/page.':
    'Escriba una dirección, por ejemplo https://example.com/pagina.',
  'must be at most {n} characters long.': 'Como máximo {n} caracteres.',
  'must be at least {n} characters long.': 'Como mínimo {n} caracteres.',
  'must be between {from} and {to}.': 'Debe estar entre {from} y {to}.',
  'must have at least {n} entries, or none.': 'Como mínimo {n} entradas, o ninguna.',
  'must have at least one of {names}.': 'Elija al menos una opción.',
  'must be a web address that starts with http:// or https://.':
    'Debe ser una dirección web que empiece por http:// o https://.',
  'must not contain whitespace or invisible characters: remove them, or percent-encode them (a space is %20).':
    'La dirección no puede contener espacios ni caracteres invisibles.',
  'must not contain a user name or password: remove everything up to the @.':
    'La dirección no puede contener usuario ni contraseña: borre todo hasta la @.',
  "must not lead to one of this service's own addresses.": 'No puede llevar a una dirección de este servicio.',
  'must be at an address on the public internet.': 'Debe ser una dirección de internet pública.',
  'must be 1 to 64 letters (a-z), digits, hyphens and underscores, and start with a letter or a digit.':
    'De 1 a 64 letras (a-z), cifras, guiones y guiones bajos; al principio, una letra o una cifra.',
  'must not be a reserved word: choose another alias.': 'Esta palabra está reservada. Elija otra.',
  'must be a future date and time in UTC, for example {example}.': 'Debe ser un momento futuro (UTC).',
  'must be a date and time in UTC, for example {time}, or a day, for example {day}.':
    'Debe ser una fecha con hora (UTC), por ejemplo {time}, o un día, por ejemplo {day}.',
  'must not contain a comma.': 'No puede contener comas.',
  'must be a HEX color, for example #1d4ed8 or #fff.': 'Debe ser un color HEX, por ejemplo #1d4ed8 o #fff.',
  'must be an e-mail address, for example {example}.': 'Debe ser una dirección de correo, por ejemplo {example}.',
  'belongs to another account.': 'La dirección pertenece a otra cuenta.',
  'The e-mail address or the password is wrong.': 'La dirección de correo o la contraseña no es correcta.',
  'is not the password of the account.': 'No es la contraseña de la cuenta.',
  'is wrong. Enter the code that your authenticator app shows now.':
    'El código no es correcto. Escriba el que su aplicación de autenticación muestra ahora.',
  'must be an address with http or https, for example {example}.':
    'Debe ser una dirección con http o https, por ejemplo {example}.',
  'must be a name, not an IP address.': 'Debe ser un nombre, no una dirección IP.',
  'must be scheme and host only, without port, path or query.':
    'Solo https:// y el nombre, sin puerto, ruta ni consulta.',
  'must be a host that you own, for example {example}.': 'Debe ser un nombre que le pertenezca, por ejemplo {example}.',
  'is one of your domains already, with the id {id}.': 'Ya tiene este dominio.',
  'must be 3 to 64 letters, digits or any of _ . / -.': 'De 3 a 64 letras, cifras o _ . / -.',
  'must be an address or a network, for example {examples}.':
    'Debe ser una dirección o una red, por ejemplo {examples}.',
}
