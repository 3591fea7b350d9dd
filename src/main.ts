#!/usr/bin/env node
import { nodeProblem } from './nodeversion.ts'

const start = async () => {
  // with DEBUG set, knex and @eventstore/db-client print statements and passwords; they read it when they are loaded
  delete process.env['DEBUG']
  const { setFlagsFromString } = await import('node:v8')
  // V8 lets the heap grow fourfold between two collections on a machine with much memory, and what lives is a few dozen
  // MB
  setFlagsFromString('--heap-growing-percent=80')
  const { lowerPriority } = await import('./lib/thread.ts')
  const { run } = await import('./cli/run.ts')
  process.exitCode = await run(process.argv.slice(2), {
    variables: process.env,
    print: (line) => console.log(line),
    printError: (line) => console.error(line),
    yieldCpu: () => lowerPriority(10),
  })
}

// everything else is imported only after this check: an older Node.js fails on it with a confusing error
const problem = nodeProblem(process.version)
if (problem === undefined) void start()
else {
  console.error(problem)
  process.exitCode = 1
}
