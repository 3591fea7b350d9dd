import { parentPort } from 'node:worker_threads'
import type { Problem } from '../lib/problems/problem.ts'
import { BadPicture } from './badpicture.ts'
import { draw, type Drawing } from './draw.ts'
import { readLogo } from './logo.ts'

/** Work for a worker: draw a QR code, or decode an uploaded picture into a logo. */
export type Task =
  { readonly type: 'draw'; readonly drawing: Drawing } | { readonly type: 'logo'; readonly bytes: Uint8Array }
/** The resulting image, what is wrong with the picture, or why the work failed. */
export type Done = { readonly bytes: Uint8Array } | { readonly problem: Problem } | { readonly failure: string }

const execute = (task: Task) => {
  switch (task.type) {
    case 'draw':
      return draw(task.drawing)
    case 'logo':
      return readLogo(Buffer.from(task.bytes))
  }
}

const answer = (task: Task): Done => {
  try {
    return { bytes: execute(task) }
  } catch (error) {
    if (error instanceof BadPicture) return { problem: error.problem }
    return { failure: (error as Error).message }
  }
}

parentPort?.on('message', (task: Task) => parentPort?.postMessage(answer(task)))
parentPort?.postMessage('ready')
