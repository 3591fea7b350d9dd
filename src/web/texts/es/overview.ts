import type { Texts } from '../texts.ts'

export const periods: Texts['periods'] = {
  label: 'Periodo',
  today: 'Hoy',
  '7d': '7 días',
  '30d': '30 días',
  quarter: 'Trimestre',
  year: 'Año',
  all: 'Todo',
  custom: 'A elegir',
  from: 'Desde',
  to: 'Hasta',
}

export const totals: Texts['totals'] = {
  label: 'Totales',
  from: 'antes {n}',
}

export const chart: Texts['chart'] = {
  counts: 'Clics',
  chart: 'Gráfico',
  table: 'Tabla',
  loading: 'El gráfico se está cargando',
  keys: 'Las flechas lo recorren.',
  now: 'Este periodo',
  periodBefore: 'Periodo anterior',
  clicks: { one: '{n} clic', other: '{n} clics' },
  before: 'Periodo anterior: {n}',
  hour: 'Hora',
  day: 'Día',
  month: 'Mes',
}

export const by: Texts['by'] = {
  country: 'Países',
  referrer: 'Procedencias',
  browser: 'Navegadores',
  os: 'Sistemas',
  device: 'Dispositivos',
  language: 'Idiomas',
  link: 'Enlaces',
  source: 'Fuentes',
  rule: 'Reglas',
  variant: 'Variantes',
  class: 'Tipos',
  none: 'Ninguna',
  unknown: 'Desconocido',
  direct: 'Directo',
}

export const devices: Texts['devices'] = {
  iphone: 'iPhone',
  ipad: 'iPad',
  ios: 'iOS',
  android: 'Android',
  mobile: 'Teléfono',
  tablet: 'Tableta',
  desktop: 'Ordenador',
  windows: 'Windows',
  mac: 'Mac',
  linux: 'Linux',
  other: 'Otro',
}

export const overview: Texts['overview'] = {
  title: 'Resumen',
  compared: ', comparado con {period}',
  clicks: 'Clics',
  visitors: 'Visitantes',
  bots: 'Robots descartados',
  ofVisits: '{n} % de todas las peticiones',
  perInterval: { hour: '{what} por hora', day: '{what} por día', month: '{what} por mes' },
  topLinks: 'Enlaces, desde el principio',
  allLinks: 'Todos los enlaces',
  noClicks: 'Ningún clic en este periodo.',
  quietTitle: 'Ningún clic en este periodo',
  quietText: 'Elija uno más largo, o comparta un enlace.',
}

export const first: Texts['first'] = {
  title: 'Cree su primer enlace',
  lead: 'Pegue una dirección larga. Obtiene un enlace corto y un código QR, y su primer clic aparece aquí un momento después.',
  address: 'Dirección larga',
  shorten: 'Acortar',
  hint: 'El destino, el nombre y las reglas se pueden cambiar después. Nada se pierde: cada cambio se conserva.',
  steps: 'Primeros pasos',
  plan: [
    ['Crear un enlace', 'Basta con la dirección.'],
    ['Abrirlo usted', 'Escanee su código QR con el teléfono y vea llegar el clic.'],
    ['Darle reglas', 'Otro destino según dispositivo, país o idioma.'],
    ['Añadir un segundo factor', 'Una aplicación de autenticación, en Cuenta.'],
  ],
}
