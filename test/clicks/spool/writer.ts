// Adds visits to a spool until it is killed, and prints the number of each as soon as it is acknowledged. With a third
// argument, the disk has so many bytes of room, which it gains and loses again and again.
import { openSpool } from '../../../src/clicks/spool/spool.ts'
import { smallDisk } from './harness.ts'
import { accountOf, route, visit } from './visits.ts'

const [dir = '', from = '0', room] = process.argv.slice(2)
const full = smallDisk()
const small = room === undefined ? {} : { io: full.io, backlogVisits: 300, retryMs: 5 }
const spool = await openSpool({ dir, route, log: () => {}, segmentBytes: 64 * 1024, syncMs: 5, ...small })
const fill = () => {
  full.room = full.room > 0 ? 0 : Number(room)
}
if (room !== undefined) setInterval(fill, 20)

const addOneByOne = async (first: number, step: number): Promise<void> => {
  for (let number = first; ; number += step) {
    await spool.add({ ...visit(number), account: accountOf(number) })
    process.stdout.write(`${number}\n`)
    await new Promise(setImmediate)
  }
}

const writers = 8
await Promise.all(Array.from({ length: writers }, (_, i) => addOneByOne(Number(from) + i, writers)))
