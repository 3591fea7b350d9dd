import type { Texts } from '../texts.ts'

/** Lo que dicen las estadísticas. */
export const stats: Texts['stats'] = {
  filters: {
    country: 'País',
    referrer: 'Procedencia',
    device: 'Dispositivo',
    browser: 'Navegador',
    os: 'Sistema',
    language: 'Idioma',
    source: 'Fuente',
    rule: 'Regla',
    variant: 'Variante',
    class: 'Tipo',
    link: 'Enlace',
  },
  sources: { link: 'Enlace corto', qr: 'Código QR', rotator: 'Campaña', bio: 'Página bio' },
  classes: { human: 'Personas', bot: 'Bots', preview: 'Vistas previas', prefetch: 'Precargas' },
  rules: { link: 'Destino', qr: 'Código QR', bio: 'Página bio', variant: 'Variante', expired_url: 'Después del final' },
  name: 'Nombre',
  save: 'Guardar como CSV: {what}',
  orRow: 'o elija una fila de abajo',
  all: { one: 'Mostrar {n}', other: 'Mostrar {n}' },
  fewer: 'Menos',
  requests: 'Solicitudes',
  scans: 'Escaneos QR',
  ofClicks: '{n} % de los clics',
  exact: 'Exacto hasta el evento {n}',
  behind: { one: '{n} segundo de retraso', other: '{n} segundos de retraso' },
  noEvents: 'Todavía no hay clics.',
  noMatch: 'Ningún clic coincide con estos filtros',
  noMatchText: 'Quite un filtro o elija un período más largo.',
  live: 'Clics en directo',
  lastMinute: { one: '{n} en el último minuto', other: '{n} en el último minuto' },
  pause: 'Pausar',
  paused: 'En pausa',
  waiting: 'Los clics aparecen aquí cuando ocurren. Abra un enlace para ver el suyo.',
  notLive: 'Sin conexión',
  notLiveText: 'Los clics en directo no se pueden mostrar ahora. Las cifras siguen siendo correctas.',
  mapLabel: 'Mapa de clics por país. La lista de al lado tiene las mismas cifras.',
}

export const filters: Texts['filters'] = {
  add: 'Añadir filtro',
  remove: 'Quitar filtro: {name} {value}',
  clear: 'Quitar filtros',
}
