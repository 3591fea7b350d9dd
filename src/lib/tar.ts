/** bytes; a header is one block, and contents are padded to whole blocks */
const block = 512
/** maximum characters of a name in the plain form of the header */
const longestName = 100

export interface TarFile {
  readonly name: string
  readonly content: Buffer
  readonly modified: Date
}
/** The kind of an entry: a file, or a header for all files that follow (POSIX pax). */
type Kind = '0' | 'g'

/** A number in octal digits with a NUL at its end, as in the header. */
const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`

const headerOf = ({ name, content, modified }: TarFile, kind: Kind): Buffer => {
  if (!/^[\x21-\x7e]+$/.test(name) || name.length > longestName)
    throw new RangeError(`a name in an archive must have 1 to ${longestName} printable ASCII characters: ${name}`)
  const header = Buffer.alloc(block)
  header.write(name, 0)
  header.write(octal(0o644, 8), 100)
  // owner and group: none
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(content.length, 12), 124)
  header.write(octal(Math.floor(modified.getTime() / 1000), 12), 136)
  // the checksum of the header counts its own field as spaces
  header.write(' '.repeat(8), 148)
  header.write(kind, 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  return header
}

const entryOf = (file: TarFile, kind: Kind): Buffer => {
  const { length } = file.content
  return Buffer.concat([headerOf(file, kind), file.content, Buffer.alloc((block - (length % block)) % block)])
}

/** Returns a file as an entry of an archive (POSIX ustar). */
export const tarFile = (file: TarFile): Buffer => entryOf(file, '0')

/** Returns a comment, like the one of git at the beginning of an archive. */
export const tarComment = (text: string, modified: Date): Buffer => {
  // the length of the record counts its own two digits
  const record = ` comment=${text}\n`
  const content = Buffer.from(`${record.length + 2}${record}`)
  if (content.length !== record.length + 2 || content.length > 99) throw new RangeError(`a long comment: ${text}`)
  return entryOf({ name: 'pax_global_header', content, modified }, 'g')
}

/** The end of an archive. */
export const tarEnd: Buffer = Buffer.alloc(2 * block)
