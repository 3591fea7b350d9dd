import { readFile } from 'node:fs/promises'
import { OperatorError } from '../lib/operatorerror.ts'

/** Returns the text of a file that an operator names. */
export const readText = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(`${file} cannot be read (${cause.code})`, { cause })
  })
