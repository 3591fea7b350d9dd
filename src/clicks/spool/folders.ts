import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Route, segmentNumber } from './segment.ts'
import { talliedSpool } from './fixedfile.ts'

/** The click log without Kafka: one partition, the stream `clicks-local-0`. */
export const localRoute: Route = { log: 'local', partitions: 1 }

export const isLocal = (route: Route): boolean => route.log === localRoute.log

export const isSameRoute = (a: Route, b: Route): boolean => a.log === b.log && a.partitions === b.partitions

/** Returns the folder of a route's spool, below the folder of all spools. */
export const spoolDir = (spools: string, route: Route): string =>
  isLocal(route) ? spools : join(spools, 'kafka', `${route.log}-${route.partitions}`)

const parseFolderName = (name: string): Route | undefined => {
  const [, log, partitions] = /^(.+)-(\d+)$/.exec(name) ?? []
  return log === undefined ? undefined : { log, partitions: Number(partitions) }
}

/** Returns the routes that have a spool below this folder. */
export const findRoutes = async (spools: string): Promise<Route[]> => {
  if (!existsSync(spools)) return []
  const kafka = join(spools, 'kafka')
  const names = existsSync(kafka) ? await readdir(kafka) : []
  const hasLocal = (await readdir(spools)).some((name) => segmentNumber(name) > 0 || talliedSpool(name) !== undefined)
  return [...(hasLocal ? [localRoute] : []), ...names.flatMap((name) => parseFolderName(name) ?? [])]
}
