import { parentPort } from 'node:worker_threads'
import { type HashTask, hashTexts } from './leafhash.ts'

parentPort?.on('message', (task: HashTask) => {
  const done = hashTexts(task)
  parentPort?.postMessage(done, [done.leaves.buffer])
})
