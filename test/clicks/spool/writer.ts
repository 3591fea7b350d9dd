// Adds visits to a spool until it is killed, and prints the number of each as soon as it is acknowledged.
import { openSpool } from '../../../src/clicks/spool/spool.ts'
import { route, visit } from './visits.ts'

const [dir = '', from = '0'] = process.argv.slice(2)
const spool = await openSpool({ dir, route, log: () => {}, segmentBytes: 64 * 1024, syncMs: 5 })

const addOneByOne = async (first: number, step: number): Promise<void> => {
  for (let number = first; ; number += step) {
    await spool.add(visit(number))
    process.stdout.write(`${number}\n`)
    await new Promise(setImmediate)
  }
}

const writers = 8
await Promise.all(Array.from({ length: writers }, (_, i) => addOneByOne(Number(from) + i, writers)))
