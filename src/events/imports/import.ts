import { z } from 'zod'
import type { EventOf } from '../event.ts'

const id = z.uuid()
const number = z.int().min(0)

/** In the stream of an import. Each link that it has created names it in its first event. */
export const importEvents = {
  /** A file of another service is imported. */
  ImportStarted: z.object({ id, account: z.int() }),
  /** All of the file is imported. `format` is that of the file; `links` were created. */
  ImportFinished: z.object({ id, account: z.int(), format: z.string(), links: number }),
  /** It was taken back: `links` were deleted, and `kept` stay, as they were changed or visited since. */
  ImportUndone: z.object({ id, account: z.int(), links: number, kept: number }),
}
export type ImportEvent = EventOf<typeof importEvents>
