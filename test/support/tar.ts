/**
 * Returns the files of a tar archive by their names. Throws when a header has a wrong checksum or the archive does not
 * end as it must.
 */
export const untar = (archive: Buffer): ReadonlyMap<string, string> => {
  const files = new Map<string, string>()
  for (let at = 0; ;) {
    const header = archive.subarray(at, at + 512)
    if (header.length < 512) throw new Error('the archive was cut off')
    if (header.every((byte) => byte === 0)) return files
    const text = (from: number, length: number) =>
      header.toString('latin1', from, from + length).replace(/[\0 ].*/s, '')
    const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0)
    if (Number.parseInt(text(148, 8), 8) !== sum) throw new Error(`the checksum of ${text(0, 100)} is wrong`)
    const size = Number.parseInt(text(124, 12), 8)
    // comments are no files
    if (text(156, 1) !== 'g') files.set(text(0, 100), archive.toString('utf8', at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
}
