import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { lowerPriority } from '../../src/lib/thread.ts'

setPriority(workerData as number)
lowerPriority(5)
parentPort?.postMessage(getPriority())
