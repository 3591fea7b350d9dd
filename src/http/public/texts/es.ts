import type { Texts } from './en.ts'

/** The texts of public pages in Spanish. */
export const es: Texts = {
  lang: 'es',
  locale: 'es',
  errorTitle: 'Error: #',

  messages: {
    home: {
      title: 'Linkledger',
      text: 'Este dominio ofrece enlaces cortos. Para seguir un enlace, use su dirección completa.',
    },
    notFound: {
      title: 'Enlace no encontrado',
      text: 'No hay ningún enlace corto en esta dirección. Puede que contenga un error de escritura o que el enlace se haya eliminado.',
    },
    expired: {
      title: 'Este enlace ha caducado',
      text: 'Su fecha de finalización ya ha pasado. Pida un enlace nuevo a la persona que lo compartió.',
    },
    loop: {
      title: 'Este enlace ya no funciona',
      text: 'Su destino es también un enlace corto, por lo que no se puede abrir. Pida un enlace nuevo a la persona que lo compartió.',
    },
    methodNotAllowed: { title: 'Esta solicitud no se admite', text: 'Abra el enlace en un navegador.' },
    postOnly: {
      title: 'Este formulario no se puede abrir por sí solo',
      text: 'Abra el enlace corto que muestra el formulario y envíe su respuesta desde allí.',
    },
    passwordTooLong: {
      title: 'Esta contraseña es demasiado larga',
      text: 'Una contraseña tiene como máximo 1024 caracteres. Vuelva atrás e inténtelo de nuevo.',
    },
    unavailable: {
      title: 'Este enlace no se puede abrir en este momento',
      text: 'El problema es nuestro y suele resolverse en unos segundos. Inténtelo de nuevo.',
    },
    failed: {
      title: 'Algo ha fallado',
      text: 'El problema es nuestro. Inténtelo de nuevo más tarde. Si continúa, póngase en contacto con el operador de este servicio.',
    },
  },

  anatomy: {
    shortLink: 'Enlace corto',
    servedBy: 'Esta dirección la gestiona #.',
    about: 'Acerca de este enlace',
    privacy: 'Privacidad',
    imprint: 'Aviso legal',
  },

  password: {
    title: 'Este enlace está protegido',
    text: 'Introduzca la contraseña que recibió con el enlace.',
    field: 'Contraseña',
    submit: 'Continuar',
    wrong: 'Esta contraseña no es correcta. Revise las mayúsculas e inténtelo de nuevo.',
    tooManyAttempts: {
      one: 'Demasiados intentos. Inténtelo de nuevo en # minuto.',
      other: 'Demasiados intentos. Inténtelo de nuevo en # minutos.',
    },
  },

  redirecting: {
    leadsTo: 'Este enlace lleva a',
    redirectingTo: 'Redirigiendo a',
    timeLeft: { one: 'En # segundo', other: 'En # segundos' },
    progress: 'Tiempo hasta la redirección',
    continueNow: 'Continuar ahora',
    continue: 'Continuar',
    stay: 'Quedarse en esta página',
    stopped: 'La redirección se ha detenido. Continúe cuando quiera.',
    notEncrypted: 'Este sitio web no está cifrado: otras personas pueden leer y modificar lo que vea y envíe en él.',
  },

  splash: { title: 'Redirección en curso' },

  frame: {
    open: 'Abrir directamente',
    notFramed: '# no se puede mostrar dentro de esta página.',
  },

  overlay: {
    message: { name: 'Mensaje', action: 'Leer más' },
    contact: { name: 'Contacto', action: 'Enviar mensaje' },
    poll: { name: 'Encuesta', action: 'Votar' },
    newsletter: { name: 'Boletín', action: 'Suscribirse' },
    image: { name: 'Imagen', action: '' },
    coupon: { name: 'Cupón', action: 'Usar cupón' },
    fields: { name: 'Nombre (opcional)', email: 'Correo electrónico', message: 'Mensaje' },
  },

  answer: {
    thanks: 'Gracias',
    sent: {
      contact: 'Su mensaje se ha enviado.',
      poll: 'Su voto se ha contado.',
      newsletter: 'Su suscripción se ha enviado.',
    },
    continueTo: 'Continuar a #',
    notSent: 'Su respuesta no se ha enviado',
    tryAgain: 'Vuelva atrás e inténtelo de nuevo.',
    problems: {
      name: 'Introduzca su nombre en texto sencillo o deje el campo vacío.',
      email: 'Introduzca una dirección de correo completa, por ejemplo ann@example.com.',
      message: 'Escriba un mensaje antes de enviarlo.',
      choice: 'Elija una de las respuestas.',
    },
    tooLong: 'Cada campo puede tener como máximo 1000 caracteres.',
    tooMany: {
      one: 'Ha enviado demasiadas respuestas. Inténtelo de nuevo en # segundo.',
      other: 'Ha enviado demasiadas respuestas. Inténtelo de nuevo en # segundos.',
    },
  },

  list: {
    empty: 'Esta lista no tiene enlaces por el momento.',
    passwordRequired: 'Contraseña necesaria',
    newer: 'Más recientes',
    older: 'Más antiguos',
  },
}
