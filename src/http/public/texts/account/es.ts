import type { AccountTexts } from './en.ts'

const notYou = 'Si no ha sido usted, póngase en contacto con el operador del servicio.'
const ignore = 'Si no ha sido usted, ignore este mensaje: no cambia nada.'

/** What people read about their account, in Spanish. */
export const accountTexts: AccountTexts = {
  fields: {
    email: 'Correo electrónico',
    password: 'Contraseña',
    passwordHint: 'Al menos 8 caracteres.',
    newPassword: 'Contraseña nueva',
  },
  first: {
    title: 'Crear la primera cuenta',
    text: 'Este servicio aún no tiene ninguna cuenta. La crea la primera persona que abre este enlace.',
    submit: 'Crear la cuenta',
  },
  created: {
    title: 'Su cuenta está lista',
    text: 'Esta es su clave de API. Solo se muestra ahora: guárdela con sus contraseñas.',
    key: 'Clave de API',
    username: 'Nombre de usuario',
    open: 'Abrir el panel',
  },
  confirm: {
    title: 'Confirme su correo electrónico',
    register: '# será la dirección de su cuenta nueva.',
    email: '# será la dirección de su cuenta.',
    submit: 'Confirmar',
  },
  confirmed: {
    title: 'Su correo electrónico está confirmado',
    text: 'Es la dirección de su cuenta a partir de ahora.',
    next: [],
  },
  reset: {
    title: 'Elija una contraseña nueva',
    text: 'La anterior dejará de funcionar. Sus claves de API siguen siendo válidas.',
    submit: 'Guardar la contraseña',
  },
  changed: {
    title: 'Su contraseña ha cambiado',
    text: 'La nueva es válida a partir de ahora. Sus claves de API siguen siendo válidas.',
    next: [],
  },
  gone: {
    title: 'Este enlace ya no funciona',
    text: 'Ha caducado o ya se ha utilizado. Solicite uno nuevo.',
    next: [],
  },
  taken: {
    title: 'Esta dirección ya tiene una cuenta',
    text: 'Puede elegir una contraseña nueva para esa cuenta.',
    next: [],
  },
  problems: {
    email: 'Escriba una dirección de correo completa, por ejemplo ann@example.com.',
    password: 'Elija una contraseña de 8 a 1024 caracteres.',
    tooMany: {
      one: 'Ha habido demasiados intentos. Inténtelo de nuevo dentro de # minuto.',
      other: 'Ha habido demasiados intentos. Inténtelo de nuevo dentro de # minutos.',
    },
  },
  mails: {
    register: {
      subject: 'Confirme su correo electrónico',
      text: 'Para crear su cuenta, abra este enlace en un plazo de 24 horas:',
      note: ignore,
    },
    taken: {
      subject: 'Ya tiene una cuenta',
      text: 'Alguien ha querido usar su correo electrónico para una cuenta. Ya es la dirección de su cuenta.',
      note: 'Si ha sido usted, use esa cuenta. Si ha olvidado la contraseña, solicite un enlace para elegir una nueva.',
    },
    email: {
      subject: 'Confirme su nuevo correo electrónico',
      text: 'Para que esta sea la dirección de su cuenta, abra este enlace en un plazo de 24 horas:',
      note: ignore,
    },
    reset: {
      subject: 'Elija una contraseña nueva',
      text: 'Para elegir una contraseña nueva, abra este enlace en el plazo de una hora:',
      note: ignore,
    },
    emailChanged: {
      subject: 'El correo electrónico de su cuenta ha cambiado',
      text: 'Su cuenta tiene ahora otro correo electrónico. Este mensaje se envía al anterior.',
      note: notYou,
    },
    passwordChanged: {
      subject: 'Su contraseña ha cambiado',
      text: 'Su cuenta tiene ahora una contraseña nueva.',
      note: notYou,
    },
    erasure: {
      subject: 'Su cuenta se va a borrar',
      text: 'Su cuenta y todo su contenido se borrarán definitivamente ese día. Hasta entonces funciona y puede cancelarlo:',
      note: notYou,
    },
    webhookDisabled: {
      subject: 'Se ha desactivado un webhook',
      text: 'Este webhook de su cuenta ya no envía nada, porque su receptor falla desde hace tres días o no quiere más mensajes:',
      note: 'Conserva su posición: cuando el receptor funcione, actívelo de nuevo y continuará desde ahí.',
    },
  },
}
