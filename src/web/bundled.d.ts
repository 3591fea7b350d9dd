/**
 * The countries of the world as paths of an SVG, by their ISO codes. `bin/world.js` draws them while the dashboard is
 * bundled.
 */
declare module 'linkledger:world' {
  export interface World {
    readonly width: number
    readonly height: number
    readonly countries: readonly (readonly [code: string, path: string])[]
  }
  const world: World
  export default world
}

/** Of the texts of a language, those that are loaded first. */
declare module '*.json?start' {
  const texts: { readonly start: object }
  export default texts
}

/** Of the texts of a language, those that are loaded with the first screen that needs them. */
declare module '*.json?screens' {
  const texts: { readonly screens: object }
  export default texts
}
