import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { createDataDir } from '../lib/datadir.ts'
import { OperatorError } from '../lib/operatorerror.ts'

export const Erasure = z.object({
  /** id of the log */
  log: z.string(),
  account: z.int(),
  /** id of the first event of the account's stream: after a restore, another account may have the same number */
  registered: z.string(),
  /** ISO 8601, UTC */
  at: z.string(),
})
/** An account that was erased. It says nothing about the person. */
export type Erasure = Readonly<z.infer<typeof Erasure>>

/** A line of an erasure register cannot be read. */
export class DamagedRegister extends OperatorError {
  override readonly name = 'DamagedRegister'
}

/**
 * Returns the erasure register of a data folder: one line of JSON per erased account. Registers can be concatenated.
 */
export const registerIn = (dataDir: string): string => join(dataDir, 'erasures')

const parseLine = (line: string) => {
  try {
    return Erasure.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

const beginning = '{"log":"'
/** Whether a line may be the start of one: a process died while it wrote it, before anything was erased. */
const isStart = (line: string) => !line.endsWith('}') && (line.startsWith(beginning) || beginning.startsWith(line))
/**
 * Whether a line may never have been completed. A power failure leaves zeros for any block of what was not on the disk
 * yet, also when the blocks after it are there.
 */
const isUnfinished = (line: string, stored: string) => stored.includes('\0') || isStart(line)

const readLines = (
  file: string,
  text: string,
  isSkipped: (line: string, stored: string) => boolean,
): readonly Erasure[] =>
  text.split('\n').flatMap((one, i) => {
    // the file may have come by mail, or from an editor that ends lines in another way
    const line = one.replaceAll('\0', '').trim()
    if (line === '') return []
    const erasure = parseLine(line)
    if (!erasure && isSkipped(line, one)) return []
    if (!erasure)
      throw new DamagedRegister(
        `line ${i + 1} of ${file} is damaged, or none of a register of erased accounts: restore the file from a backup, or remove the line`,
      )
    return [erasure]
  })

/** Returns the erasures in the register of a data folder; none when there is no file. Throws `DamagedRegister`. */
export const readErasures = async (file: string): Promise<readonly Erasure[]> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return readLines(file, text, isUnfinished)
}

/**
 * Returns the erasures in a file that an operator names, each line of which has to be whole: a copy may have been cut
 * off, or be something else. Throws `DamagedRegister`.
 */
export const readNamedErasures = async (file: string): Promise<readonly Erasure[]> =>
  readLines(file, await readFile(file, 'utf8'), () => false)

export const formatErasures = (erasures: readonly Erasure[]): string =>
  erasures.map((erasure) => `${JSON.stringify(erasure)}\n`).join('')

/** Appends erasures to the register of a data folder. Resolves when they are on the disk. */
export const appendErasures = async (dataDir: string, erasures: readonly Erasure[]): Promise<void> => {
  if (erasures.length === 0) return
  createDataDir(dataDir)
  const file = await open(registerIn(dataDir), 'a', 0o600)
  try {
    // begins with a newline, in case the last line was never completed
    await file.appendFile(`\n${formatErasures(erasures)}`)
    await file.sync()
  } finally {
    await file.close()
  }
  const folder = await open(dataDir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
