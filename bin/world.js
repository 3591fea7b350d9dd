// Draws the world for the dashboard: countries as paths of an SVG, projected once, when the project is built.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** width of the drawing; its height follows from the projection */
const width = 800
/** south of it is nobody who clicks */
const south = -58

/**
 * Projects a place: Natural Earth (Šavrič et al. 2011), in which countries look as on a map at school.
 * @param {readonly [number, number]} place longitude and latitude in degrees
 * @returns {readonly [number, number]}
 */
const project = ([longitude, latitude]) => {
  const phi = (latitude * Math.PI) / 180
  const [p2, p4] = [phi ** 2, phi ** 4]
  const x = 0.8707 - 0.131979 * p2 + p4 * (-0.013791 + p4 * (0.003971 * p2 - 0.001529 * p4))
  const y = phi * (1.007226 + p2 * (0.015085 + p4 * (-0.044475 + 0.028874 * p2 - 0.005916 * p4)))
  return [((longitude * Math.PI) / 180) * x, y]
}

const [edge] = project([180, 0])
const [, top] = project([0, 84])
const [, bottom] = project([0, south])
const scale = width / (2 * edge)
const height = Math.round((top - bottom) * scale)

/**
 * Returns a ring as often as it is seen: one that crosses the edge of the map is on both sides of it.
 * @param {readonly (readonly [number, number])[]} ring
 * @returns {readonly (readonly (readonly [number, number])[])[]}
 */
const cut = (ring) => {
  let turn = 0
  const unwound = ring.map(([longitude, latitude], n) => {
    const step = longitude - (ring[n - 1]?.[0] ?? longitude)
    turn += step > 180 ? -360 : step < -180 ? 360 : 0
    return /** @type {const} */ ([longitude + turn, latitude])
  })
  const sides = [-360, 0, 360].map((shift) =>
    unwound.map(([longitude, latitude]) => /** @type {const} */ ([longitude + shift, latitude])),
  )
  return sides
    .map((side) => within(within(side, 1), -1))
    .map((side) => side.map(([longitude, latitude]) => /** @type {const} */ ([longitude, Math.max(south, latitude)])))
}

/**
 * Returns the part of a ring on the inner side of an edge of the map (Sutherland and Hodgman, 1974).
 * @param {readonly (readonly [number, number])[]} ring
 * @param {1 | -1} sign of the edge
 * @returns {readonly (readonly [number, number])[]}
 */
const within = (ring, sign) =>
  ring.flatMap((place, n) => {
    const before = ring[(n + ring.length - 1) % ring.length] ?? place
    const [from, to] = [180 - sign * before[0], 180 - sign * place[0]]
    const latitude = before[1] + ((place[1] - before[1]) * from) / (from - to)
    const crossing = from < 0 !== to < 0 ? [/** @type {const} */ ([sign * 180, latitude])] : []
    return to < 0 ? crossing : [...crossing, place]
  })

/**
 * @param {readonly (readonly [number, number])[]} ring
 * @returns {string} a closed path; empty when nothing of it is seen
 */
const pathOf = (ring) => {
  const points = ring.map((place) => {
    const [x, y] = project(place)
    return [Math.round((x + edge) * scale * 10), Math.round((top - y) * scale * 10)]
  })
  const kept = points.filter(([x, y], n) => n === 0 || x !== points[n - 1]?.[0] || y !== points[n - 1]?.[1])
  const [first] = kept
  if (!first || kept.length < 4) return ''
  const tenths = (/** @type {number} */ n) => String(n / 10).replace(/^(-?)0\./, '$1.')
  let [x, y] = /** @type {[number, number]} */ (first)
  const lines = kept.slice(1, -1).map(([toX = 0, toY = 0]) => {
    const line = `${tenths(toX - x)} ${tenths(toY - y)}`
    ;[x, y] = [toX, toY]
    return line
  })
  return `M${tenths(first[0] ?? 0)} ${tenths(first[1] ?? 0)}l${lines.join(' ')}z`.replaceAll(' -', '-')
}

/**
 * @typedef {{ readonly id?: string, readonly type: string, readonly arcs: readonly unknown[] }} Shape
 * @typedef {{ readonly transform: { readonly scale: readonly [number, number], readonly translate: readonly [number, number] }, readonly arcs: readonly (readonly (readonly [number, number])[])[], readonly objects: { readonly countries: { readonly geometries: readonly Shape[] } } }} Topology
 */

/**
 * Returns the countries of the world by their ISO codes, as paths.
 * @returns {{ readonly width: number, readonly height: number, readonly countries: readonly (readonly [code: string, path: string])[] }}
 */
export const drawWorld = () => {
  const file = createRequire(import.meta.url).resolve('world-atlas/countries-110m.json')
  const { transform, arcs, objects } = /** @type {Topology} */ (JSON.parse(readFileSync(file, 'utf8')))
  const lines = arcs.map((arc) => {
    let [x, y] = [0, 0]
    return arc.map(([dx, dy]) => {
      ;[x, y] = [x + dx, y + dy]
      return /** @type {const} */ ([
        x * transform.scale[0] + transform.translate[0],
        y * transform.scale[1] + transform.translate[1],
      ])
    })
  })
  const lineOf = (/** @type {number} */ n) => (n < 0 ? (lines[~n] ?? []).toReversed() : (lines[n] ?? []))
  const ringOf = (/** @type {readonly number[]} */ ring) =>
    ring.flatMap((arc, n) => (n === 0 ? lineOf(arc) : lineOf(arc).slice(1)))
  const polygons = (/** @type {Shape} */ { type, arcs: parts }) =>
    /** @type {readonly (readonly (readonly number[])[])[]} */ (type === 'Polygon' ? [parts] : parts)
  // Unicode knows the codes that the UN has for countries by number
  const codeOf = (/** @type {string | undefined} */ id) => (id && new Intl.Locale(`und-${id}`).region) ?? ''
  const countries = objects.countries.geometries
    .filter(({ id }) => id !== '010')
    .map(
      (shape) =>
        /** @type {const} */ ([
          codeOf(shape.id),
          polygons(shape)
            .flatMap((rings) => rings.flatMap((ring) => cut(ringOf(ring)).map(pathOf)))
            .join(''),
        ]),
    )
  return { width, height, countries }
}
