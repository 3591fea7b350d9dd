import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import type { Position } from '../../../queries/page.ts'
import { BrokenSeal, sealSteadily, unseal } from '../../../security/seal.ts'
import { failField } from '../errors.ts'

/**
 * A place in a list. It is sealed: a position in the log, which sorts some lists, would tell how much the service is
 * used.
 */
export interface PagePlace {
  /** number of the page that starts there */
  readonly page: number
  readonly after: Position
}
const Content = z.tuple([z.string(), z.int().min(1)], z.union([z.number(), z.string()]))

/** The list of an account, in one order and with the same filters. */
export interface CursorOf {
  readonly account: number
  /** anything else that its rows and their order depend on */
  readonly list: unknown
}

const keyOf = (pepper: Buffer) => createHmac('sha256', pepper).update('cursors of lists').digest()
const contextOf = ({ account }: CursorOf) => `cursor/${account}`
const markOf = ({ list }: CursorOf) =>
  createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, 16)

/** Makes the cursors of lists, and reads them. */
export interface Cursors {
  readonly make: (of: CursorOf, place: PagePlace) => string
  /** Fails with 400 for what `make` has not made for this list. */
  readonly open: (of: CursorOf, cursor: string) => PagePlace
}

const opened = (key: Buffer, of: CursorOf, cursor: string) => {
  try {
    return Content.parse(JSON.parse(unseal(key, contextOf(of), cursor).toString()))
  } catch (error) {
    if (!(error instanceof BrokenSeal)) throw error
    return failField('cursor', 'wrong_form', { what: 'cursor' })
  }
}

export const openCursors = (pepper: Buffer): Cursors => {
  const key = keyOf(pepper)
  return {
    // the same page has the same cursor, so that an answer of the past is the same byte by byte
    make: (of, { page, after }) => sealSteadily(key, contextOf(of), JSON.stringify([markOf(of), page, ...after])),
    open: (of, cursor) => {
      const [mark, page, ...after] = opened(key, of, cursor)
      if (mark !== markOf(of)) failField('cursor', 'wrong_form', { what: 'cursor_list' })
      return { page, after }
    },
  }
}
