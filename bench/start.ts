import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { urlOf } from '../test/support/app.ts'
import { ownPort } from '../test/support/ports.ts'
import { openDataset } from './dataset.ts'
import { type Bench, count, type Line, main, median } from './kit.ts'

/** Resolves with the status of an answer, or with 0 when nothing listens. */
const ask = (port: number, path: string) =>
  new Promise<number>((resolve) => {
    const asked = http.get({ port, path, agent: false }, (answer) => {
      answer.resume()
      answer.once('end', () => resolve(answer.statusCode ?? 0))
    })
    asked.once('error', () => resolve(0))
  })

/**
 * Starts the program and stops it again. Returns the ms until it has answered its first request, for a link that does
 * not exist.
 */
const timeStart = async (settings: Readonly<Record<string, string>>) => {
  const port = await ownPort()
  const began = performance.now()
  const child = spawn(process.execPath, [main, 'start'], {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port), OPERATOR_PORT: '0', LOG_LEVEL: 'error', ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    // while it waits for something, it answers with 503
    while ((await ask(port, '/never')) !== 404) {
      if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`)
      await pause(5)
    }
    return performance.now() - began
  } finally {
    child.kill()
    await exited
  }
}

/** Measures starts with the embedded PostgreSQL: in an empty folder, and in one that was used before. */
const measureEmbedded = async (bench: Bench, runs: number): Promise<Line[]> => {
  const [cold, warm]: [number[], number[]] = [[], []]
  for (let run = 0; run < runs; run++) {
    const settings = { DATA_DIR: await mkdtemp(join(bench.dir, 'start-')) }
    cold.push(await timeStart(settings))
    warm.push(await timeStart(settings))
  }
  const line = (what: string, ms: number, goal: number): Line => ({
    ...{ what, result: `${count(ms)} ms`, target: `<= ${count(goal)} ms`, met: ms <= goal },
  })
  return [
    line('h  cold start, new folder, to the first answer', median(cold), 1_500),
    line('h  warm start, to the first answer', median(warm), 700),
  ]
}

/** Compares starts on a long log, whose tables are up to date, with starts on an empty one. */
const measureLong = async (bench: Bench, runs: number): Promise<Line> => {
  const data = await openDataset(bench, true)
  try {
    const service = await bench.start(data.on, data.settings)
    await data.ready(service)
    await service.stop()
    const onEmpty = {
      on: await bench.database(),
      settings: { SECRET: 'a secret for benchmarks only', DATA_DIR: await mkdtemp(join(bench.dir, 'start-')) },
    }
    const time = ({ on, settings }: { on: EmbeddedConnection; settings: Readonly<Record<string, string>> }) =>
      timeStart({ ...settings, DATABASE_URL: urlOf(on) })
    const [empty, long]: [number[], number[]] = [[], []]
    // the first start on the empty one creates its tables
    await time(onEmpty)
    for (let run = 0; run < runs; run++) {
      empty.push(await time(onEmpty))
      long.push(await time(data))
    }
    const more = median(long) - median(empty)
    return {
      what: `h  start on ${count(data.links)} links, tables up to date / empty`,
      result: `${count(more)} ms more (${count(median(long))} ms, empty ${count(median(empty))} ms)`,
      target: '<= 300 ms',
      met: more <= 300,
    }
  } finally {
    await data.close()
  }
}

/** Measures the time from the start of the process to its first answer. */
export const start = async (bench: Bench): Promise<Line[]> => {
  const runs = bench.size(5, 1)
  return [...(await measureEmbedded(bench, runs)), await measureLong(bench, runs)]
}
