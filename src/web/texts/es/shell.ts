import type { Texts } from '../texts.ts'

export const nav: Texts['nav'] = {
  label: 'Menú principal',
  overview: 'Resumen',
  links: 'Enlaces',
  qr: 'Códigos QR',
  history: 'Historial',
  proof: 'Prueba',
  operator: 'Operador',
  campaigns: 'Campañas',
  channels: 'Canales',
  bio: 'Páginas de perfil',
  splash: 'Páginas intermedias',
  overlays: 'Capas',
  pixels: 'Píxeles',
  domains: 'Dominios',
  keys: 'Claves de API',
  webhooks: 'Webhooks',
  more: 'Más',
  account: 'Cuenta',
  settings: 'Cuenta y seguridad',
  api: 'Referencia de la API',
  signOut: 'Cerrar sesión',
  create: 'Crear',
  createLink: 'Crear enlace',
  search: 'Buscar enlaces',
  searchFor: 'Buscar enlaces, etiquetas, destinos',
  help: 'Ayuda',
  skip: 'Ir al contenido',
  utc: 'Horas en UTC',
}

export const actions: Texts['actions'] = {
  again: 'Reintentar',
  cancel: 'Cancelar',
  close: 'Cerrar',
  copy: 'Copiar {what}',
  hide: 'Ocultar',
  reload: 'Recargar',
  remove: 'Quitar',
  save: 'Guardar',
  show: 'Mostrar',
  undo: 'Deshacer',
}

export const errors: Texts['errors'] = {
  linksWork: 'Sus enlaces siguen funcionando.',
  newVersion: 'El servicio se ha actualizado. Recargue la página para continuar.',
  noScreen: 'No hay nada en esta dirección',
  noScreenText: 'Puede tener un error de escritura, o su contenido se ha eliminado.',
  offline: 'No se puede conectar con el servicio. Compruebe su conexión.',
  slow: 'El servicio no ha respondido a tiempo.',
  tooMany: 'Ha habido demasiadas peticiones. Inténtelo de nuevo en {n} segundos.',
  unknown: 'Algo ha ido mal.',
}

export const toasts: Texts['toasts'] = {
  copied: 'Copiado:',
  notCopied: 'Su navegador no permite copiar aquí. Seleccione el texto y cópielo.',
  takenBack: 'El cambio en {what} se ha deshecho: {reason}',
}

export const help: Texts['help'] = {
  title: 'Atajos de teclado',
  create: 'Crear un enlace',
  search: 'Buscar enlaces',
  help: 'Mostrar esta ayuda',
  close: 'Cerrar, o vaciar la selección',
  chart: 'Moverse por un gráfico seleccionado',
}

export const signIn: Texts['signIn'] = {
  signIn: 'Iniciar sesión',
  signUp: 'Crear una cuenta',
  create: 'Crear cuenta',
  first: 'Crear la primera cuenta',
  firstText: 'Nadie tiene todavía una cuenta en este servicio. Empiece con la suya.',
  firstPrinted:
    'Nadie tiene todavía una cuenta en este servicio. La dirección para crear la primera se mostró al iniciar el servicio.',
  enterCode: 'Escriba su código',
  email: 'Correo electrónico',
  password: 'Contraseña',
  passwordHint: 'Al menos 8 caracteres.',
  code: 'Código de su aplicación de autenticación',
  codeHint: '6 cifras, nuevas cada 30 segundos.',
  recoveryCode: 'Código de recuperación',
  recoveryHint: 'Cada uno sirve una vez.',
  useApp: 'Usar la aplicación de autenticación',
  useRecovery: 'Usar un código de recuperación',
  change: 'Cambiar',
  forgotten: '¿Ha olvidado su contraseña?',
  reset: 'Enviarme un enlace para elegir otra',
  askOperator: 'Pida al operador de este servicio que ponga una nueva.',
  noAccount: 'Crear una cuenta',
  haveAccount: 'Tengo una cuenta',
}

export const past: Texts['past'] = {
  label: 'Tiempo',
  moment: 'Momento mostrado',
  now: 'Ahora',
  utc: '{time} UTC',
  shown: 'Está viendo el pasado, solo lectura · {ago}',
  screenOfNow: 'Esta pantalla no tiene pasado: muestra el presente',
  readOnly: 'Solo lectura',
  readOnlyWhy: 'Está viendo el pasado, que no se puede cambiar. Vuelva primero al presente.',
  previous: 'Cambio anterior',
  next: 'Cambio siguiente',
  back: 'Volver al presente',
  choose: 'Elegir un momento',
  chooseHint: 'En UTC. Todo se muestra como era entonces.',
  go: 'Mostrar',
}
