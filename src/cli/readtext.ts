import { readFile } from 'node:fs/promises'
import { OperatorError } from '../lib/operatorerror.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns the text of a file that an operator names, which has to be UTF-8. */
export const readText = async (file: string): Promise<string> => {
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(`${file} cannot be read (${cause.code})`, { cause })
  })
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new OperatorError(`${file} is no text in UTF-8`, { cause })
  }
}
