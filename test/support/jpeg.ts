const segment = (marker: number, data: readonly number[]) =>
  Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255, ...data])
const frame = (width: number, height: number) =>
  segment(0xc2, [8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0])

/** Returns a JPEG that declares a size and has no image data. */
export const jpegHeader = (width: number, height: number) =>
  Buffer.concat([Buffer.from([0xff, 0xd8]), frame(width, height), Buffer.from([0xff, 0xd9])])

/**
 * Returns a progressive JPEG of 1024 x 1024 grey pixels in many scans of 12 bytes each (ITU T.81, G.1.2.2). Every scan
 * states in two bytes that all 16,384 blocks are empty, and makes a decoder visit each of them.
 */
export const slowJpeg = (scans: number) => {
  const table = segment(0xc4, [0x10, 1, ...Array<number>(15).fill(0), 0xe0])
  const scan = Buffer.concat([segment(0xda, [1, 1, 0x00, 1, 63, 0]), Buffer.from([0, 1])])
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...Array<number>(64).fill(1)]),
    frame(1024, 1024),
    table,
    ...Array<Buffer>(scans).fill(scan),
    Buffer.from([0xff, 0xd9]),
  ])
}
