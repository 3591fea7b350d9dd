import { parentPort } from 'node:worker_threads'
import { draw, type Drawing } from './draw.ts'
import { readLogo } from './logo.ts'

/** What a worker is asked: to draw a QR code, or to make a PNG of ours of a stranger's picture. */
export type Task =
  { readonly type: 'draw'; readonly drawing: Drawing } | { readonly type: 'logo'; readonly bytes: Uint8Array }
/** `problem`: what is wrong with the picture. */
export type Done = { readonly bytes: Uint8Array } | { readonly problem: string }

const carryOut = (task: Task) => {
  switch (task.type) {
    case 'draw':
      return draw(task.drawing)
    case 'logo':
      return readLogo(Buffer.from(task.bytes))
  }
}

const answer = (task: Task): Done => {
  try {
    return { bytes: carryOut(task) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

parentPort?.on('message', (task: Task) => parentPort?.postMessage(answer(task)))
parentPort?.postMessage('ready')
