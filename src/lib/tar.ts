/** bytes; headers are one block, and contents are filled up to whole blocks */
const block = 512
/** characters of a name at most, in the plain form of the header */
const longestName = 100

export interface TarFile {
  readonly name: string
  readonly content: Buffer
  readonly modified: Date
}

/** A number in octal digits with a NUL at its end, as the header has them. */
const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`

const headerOf = ({ name, content, modified }: TarFile): Buffer => {
  if (!/^[\x21-\x7e]+$/.test(name) || name.length > longestName)
    throw new RangeError(`a name in an archive must have 1 to ${longestName} printable ASCII characters: ${name}`)
  const header = Buffer.alloc(block)
  header.write(name, 0)
  header.write(octal(0o644, 8), 100)
  // owner and group: nobody in particular
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(content.length, 12), 124)
  header.write(octal(Math.floor(modified.getTime() / 1000), 12), 136)
  // the sum of the header is taken with spaces in its own place
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  return header
}

/** Returns a file as it is in an archive (POSIX ustar). */
export const tarFile = (file: TarFile): Buffer => {
  const { length } = file.content
  return Buffer.concat([headerOf(file), file.content, Buffer.alloc((block - (length % block)) % block)])
}

/** What an archive ends with. */
export const tarEnd: Buffer = Buffer.alloc(2 * block)
