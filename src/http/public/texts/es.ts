import { accountTexts } from './account/es.ts'
import type { Texts } from './en.ts'

/** The texts of public pages in Spanish. */
export const es: Texts = {
  lang: 'es',
  locale: 'es',
  errorTitle: 'Error: #',

  messages: {
    home: {
      title: 'Enlaces cortos',
      text: 'Este dominio ofrece enlaces cortos. Para seguir un enlace, use su dirección completa.',
    },
    notFound: {
      title: 'Enlace no encontrado',
      text: 'No hay ningún enlace corto en esta dirección. Puede que contenga un error de escritura o que el enlace se haya eliminado.',
      next: [
        'Compare la dirección con la original. No se distinguen mayúsculas y minúsculas.',
        'Pregunte a la persona que compartió el enlace con usted.',
      ],
    },
    expired: {
      title: 'Este enlace ha caducado',
      text: 'Era válido hasta el # y ya no lleva a ninguna parte.',
      next: ['Pida un enlace nuevo a la persona que lo compartió o busque la página por su cuenta.'],
    },
    usedUp: {
      title: 'Este enlace ha alcanzado su límite',
      text: 'Solo se podía abrir un número limitado de veces y ya no lleva a ninguna parte.',
      next: ['Pida un enlace nuevo a la persona que lo compartió o busque la página por su cuenta.'],
    },
    loop: {
      title: 'Este enlace ya no funciona',
      text: 'Su destino es también un enlace corto, por lo que no se puede abrir.',
      next: ['Pida un enlace nuevo a la persona que lo compartió con usted.'],
    },
    methodNotAllowed: {
      title: 'Esta solicitud no se admite',
      text: 'Esta dirección solo se puede abrir como página.',
      next: ['Abra el enlace en un navegador.'],
    },
    tooManyRequests: {
      title: 'Demasiadas solicitudes',
      text: 'Desde su red han llegado muchas solicitudes de direcciones desconocidas o de imágenes nuevas. Inténtelo de nuevo dentro de un minuto.',
    },
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
      text: 'El problema es nuestro y suele resolverse en unos segundos. El enlace en sí está bien.',
    },
    failed: { title: 'Algo ha fallado', text: 'El problema es nuestro. Inténtelo de nuevo más tarde.' },
  },
  help: {
    next: 'Qué puede hacer',
    tryAgain: 'Intentar de nuevo',
    reference: 'Si sigue ocurriendo, indíquenos esta referencia: #',
    goTo: 'Ir a #',
  },

  anatomy: {
    shortLink: 'Enlace corto',
    servedBy: 'Esta dirección la gestiona #.',
    about: 'Acerca de este enlace',
    privacy: 'Privacidad',
    imprint: 'Aviso legal',
  },

  blocked: {
    title: 'Este enlace está bloqueado por su seguridad',
    text: 'Se ha denunciado como dañino, por lo que no lo abrimos. No se ha cargado nada de su destino.',
    entered: {
      title: 'Si ya introdujo allí una contraseña',
      text: 'Cambie esa contraseña ahora, y en cualquier otro lugar donde la use.',
    },
    owner: {
      title: 'Si este enlace es suyo',
      text: 'Puede pedir al operador de este servicio que lo revise de nuevo.',
    },
    review: 'Pedir una revisión',
  },

  report: {
    title: 'Denunciar este enlace',
    text: 'Díganos cuál es el problema.',
    link: 'Enlace corto',
    reason: '¿Cuál es el problema?',
    reasons: {
      phishing: { label: 'Pide contraseñas o datos de pago', note: 'Suplantación de identidad o fraude' },
      malware: { label: 'Ofrece software dañino', note: 'Software malicioso o descargas no deseadas' },
      spam: { label: 'Lo recibí como correo no deseado', note: '' },
      illegal: { label: 'Muestra contenido ilegal', note: '' },
      other: { label: 'Otra cosa', note: '' },
      unblock: { label: 'Está bloqueado aunque es inofensivo', note: '' },
    },
    details: 'Detalles (opcional)',
    detailsHint: '¿Dónde encontró el enlace y qué ocurrió al abrirlo?',
    email: 'Su dirección de correo (opcional)',
    emailHint: 'Solo la usamos para responderle. El propietario del enlace no la ve.',
    submit: 'Enviar denuncia',
    problems: {
      link: 'No hay ningún enlace corto en esta dirección.',
      reason: 'Elija cuál es el problema con el enlace.',
      details: 'Los detalles pueden tener como máximo 1000 caracteres.',
      email: 'Introduzca una dirección de correo completa, por ejemplo ann@example.com, o deje el campo vacío.',
      form: 'Este formulario ha caducado. Envíelo de nuevo.',
      tooMany: {
        one: 'Ha enviado demasiadas denuncias. Inténtelo de nuevo dentro de # minuto.',
        other: 'Ha enviado demasiadas denuncias. Inténtelo de nuevo dentro de # minutos.',
      },
    },
    sent: {
      title: 'Su denuncia se ha enviado',
      text: 'Gracias. Una persona la revisará. Si el enlace es dañino, dejará de funcionar para todos.',
      reference: 'Su referencia',
      note: 'Menciónela si nos escribe sobre esta denuncia. Ya puede cerrar esta página.',
    },
  },

  password: {
    title: 'Este enlace está protegido',
    text: 'Introduzca la contraseña que recibió con el enlace.',
    field: 'Contraseña',
    submit: 'Continuar',
    show: 'Mostrar',
    showLabel: 'Mostrar la contraseña',
    wrong: 'Esta contraseña no es correcta. Revise las mayúsculas e inténtelo de nuevo.',
    wrongTitle: 'Esta contraseña no es correcta',
    noPassword: '¿No tiene contraseña? Pregunte a la persona que compartió este enlace con usted.',
    limit: {
      title: 'Demasiados intentos',
      text: {
        one: 'Para proteger este enlace, no se pueden probar contraseñas desde su red durante el próximo minuto.',
        other:
          'Para proteger este enlace, no se pueden probar contraseñas desde su red durante los próximos # minutos.',
      },
      ask: 'Pida la contraseña a la persona que compartió el enlace.',
      after: 'Inténtelo de nuevo después de las #.',
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

  splash: { title: 'Redirección en curso', product: 'Ver el producto' },

  pixels: {
    measured: 'El propietario de este enlace mide las visitas con #. La medición empieza con la redirección, no antes.',
    measuredHere: 'El propietario de este enlace mide las visitas con #.',
    without: 'Continuar sin medición',
    ask: 'El propietario de este enlace quiere medir su visita con #. No se mide nada sin su consentimiento.',
    agree: 'Aceptar y continuar',
    untracked: 'Su navegador pide que no se le rastree, por lo que otros no miden esta visita.',
    about: 'Medición',
  },

  frame: {
    shownBy: 'mostrado por #',
    open: 'Abrir directamente',
    report: 'Denunciar este enlace',
    reportShort: 'Denunciar',
    openShort: 'Abrir',
    notFramed: '# no se puede mostrar dentro de esta página.',
  },

  overlay: {
    close: 'Cerrar',
    copy: 'Copiar',
    copied: 'Copiado',
    actions: {
      message: 'Leer más',
      contact: 'Enviar mensaje',
      poll: 'Enviar respuesta',
      newsletter: 'Suscribirse',
      image: '',
      coupon: 'Usar cupón',
    },
    fields: { name: 'Nombre (opcional)', email: 'Correo electrónico', message: 'Mensaje' },
    goesTo: {
      contact: 'Su mensaje se envía al propietario de este enlace.',
      poll: 'Su respuesta se envía al propietario de este enlace. No se guarda ningún nombre con ella.',
      newsletter: 'Su dirección se envía al propietario de este enlace.',
    },
  },

  answer: {
    thanks: 'Gracias',
    thanksTo: 'Gracias, #',
    sent: {
      contact: 'Su mensaje se ha enviado.',
      poll: 'Su voto se ha contado.',
      newsletter: 'Su suscripción se ha enviado.',
    },
    notSent: 'Su respuesta no se ha enviado',
    check: { one: 'Revise # campo.', other: 'Revise # campos.' },
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

  account: accountTexts,

  list: {
    empty: 'Esta lista no tiene enlaces por el momento.',
    passwordRequired: 'Contraseña necesaria',
    newer: 'Más recientes',
    older: 'Más antiguos',
  },
}
