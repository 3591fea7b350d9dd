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
