import { expect } from 'chai'
import {
  BadReceipt,
  type Extension,
  type Receipt,
  verifyExtension,
  verifyReceipt,
} from '../../../src/events/proof/receipt.ts'
import {
  consistencyRanges,
  hashLeaf,
  inclusionRanges,
  type Range,
  rootOf,
} from '../../../src/lib/transparency/merkle.ts'
import { type Checkpoint, checkpointText, createSigner, parseVerifier } from '../../../src/lib/transparency/note.ts'
import { verifyReceipt as verifyInPage } from '../../../src/web/screens/proof/verify.ts'

const rootIn = (hashes: readonly Buffer[], [start, end]: Range) => rootOf(Buffer.concat(hashes.slice(start, end)))
const pathOf = (hashes: readonly Buffer[], ranges: readonly Range[]) =>
  ranges.map((range) => rootIn(hashes, range).toString('base64'))

const name = 'log.example/1'
const signer = createSigner(name, Buffer.alloc(32, 7))
const verifier = parseVerifier(signer.publicKey)!

const clicks = ['{"click":0}', '{"click":1}', '{"click":"\ufffd"}']
const clickHashes = clicks.map(hashLeaf)
const batch = { count: clicks.length, root: rootIn(clickHashes, [0, clicks.length]).toString('base64') }
/** The fourth event recorded the clicks. The last one has a character that stands for what cannot be read. */
const events = Array.from({ length: 6 }, (_, ordinal) =>
  JSON.stringify({
    ordinal,
    ...(ordinal === 3 && { data: { clicks: batch } }),
    ...(ordinal === 5 && { at: '\ufffd' }),
  }),
)
const hashes = events.map(hashLeaf)

const checkpointOf = (size: number): Checkpoint => ({ origin: name, size, root: rootIn(hashes, [0, size]) })
const signed = (size: number, by = signer) => by.sign(checkpointText(checkpointOf(size)))
const receiptOf = (index: number, size = events.length): Receipt => ({
  event: events[index]!,
  proof: { index, path: pathOf(hashes, inclusionRanges(index, size)), checkpoint: signed(size) },
})
const clickReceipt = (index: number): Receipt => {
  const receipt = receiptOf(3)
  const click = { index, path: pathOf(clickHashes, inclusionRanges(index, clicks.length)) }
  return { ...receipt, click: clicks[index]!, proof: { ...receipt.proof, click } }
}
const wrong = Buffer.alloc(32, 1).toString('base64')

/** Expects that a receipt proves nothing, and why. */
const refused = (receipt: Receipt, why: string) =>
  expect(() => verifyReceipt(receipt, verifier)).to.throw(BadReceipt, why)

describe('a receipt', () => {
  it('proves each event to be in the log of a signed checkpoint', () => {
    for (const index of events.keys())
      expect(verifyReceipt(receiptOf(index), verifier)).to.deep.equal(checkpointOf(events.length))
    expect(verifyReceipt(receiptOf(1, 2), verifier).size).to.equal(2)
  })

  it('proves each click to be among those of its event', () => {
    for (const index of clicks.keys()) expect(verifyReceipt(clickReceipt(index), verifier).size).to.equal(events.length)
  })

  it('proves nothing about an event that was changed or is at another place', () => {
    const receipt = receiptOf(2)
    const { proof } = receipt
    refused({ ...receipt, event: '{"ordinal":2,"more":1}' }, 'the event is not in the log of the checkpoint')
    refused({ ...receipt, event: events[1]! }, '`proof.index` is not the ordinal of the event')
    refused({ ...receipt, proof: { ...proof, index: 1 } }, '`proof.index` is not the ordinal of the event')
    refused({ ...receipt, proof: { ...proof, path: proof.path.with(0, wrong) } }, 'the event is not in the log')
    refused({ ...receipt, proof: { ...proof, path: proof.path.slice(1) } }, 'the event is not in the log')
    refused({ ...receipt, proof: { ...proof, path: proof.path.with(0, 'AAAA') } }, 'something that is not a hash')
  })

  it('proves nothing with an event that is no event', () => {
    for (const event of ['{', '7', '{"ordinal":"2"}'])
      refused({ ...receiptOf(2), event }, '`event` is not the canonical form of such an event')
    refused(
      { ...receiptOf(2), click: clicks[0]!, proof: { ...receiptOf(2).proof, click: { index: 0, path: [] } } },
      '`event` is not the canonical form of such an event',
    )
  })

  it('proves nothing about a click that is not among those of its event', () => {
    const receipt = clickReceipt(1)
    const { click: place, ...proof } = receipt.proof
    refused({ ...receipt, click: '{"click":9}' }, 'the click is not among those of the event')
    refused({ ...receipt, proof: { ...proof, click: { ...place!, index: 2 } } }, 'the click is not among those')
    refused({ ...receipt, proof: { ...proof, click: { ...place!, index: 3 } } }, 'the click is not among those')
    refused({ ...receipt, proof }, '`proof.click` is missing')
  })

  it('proves nothing with half a character in place of one, which has the same hash', async () => {
    const halved = (receipt: Receipt): readonly Receipt[] =>
      ['\ud800', '\udfff'].flatMap((half) => {
        const [event, click] = [receipt.event, receipt.click ?? ''].map((text) => text.replace('\ufffd', half))
        return [{ ...receipt, event: event! }, ...(receipt.click === undefined ? [] : [{ ...receipt, click: click! }])]
      })
    const [last, visit] = [receiptOf(5), clickReceipt(2)]
    for (const good of [last, visit]) {
      expect(verifyReceipt(good, verifier).size).to.equal(events.length)
      expect((await verifyInPage(good as never, signer.publicKey)).failed).to.equal(undefined)
    }
    for (const forged of [...halved(last), ...halved(visit).filter(({ click }) => click !== visit.click)]) {
      refused(forged, 'has a lone surrogate')
      const inPage = await verifyInPage(forged as never, signer.publicKey).catch(String)
      expect(inPage).to.include('a lone surrogate')
    }
    const note = last.proof.checkpoint.replace('log.example', 'log.\ud800xample')
    refused({ ...last, proof: { ...last.proof, checkpoint: note } }, 'has a lone surrogate')
  })

  it('needs a checkpoint that was signed by the key of the log', () => {
    const withCheckpoint = (checkpoint: string) => ({ ...receiptOf(2), proof: { ...receiptOf(2).proof, checkpoint } })
    const other = createSigner(name, Buffer.alloc(32, 8))
    refused(withCheckpoint(signed(events.length, other)), 'the checkpoint is not signed by this key')
    refused(withCheckpoint(signed(events.length).replace('\n6\n', '\n5\n')), 'the checkpoint is not signed by this key')
    refused(
      withCheckpoint(signer.sign(checkpointText({ ...checkpointOf(6), origin: 'other.example' }))),
      'the checkpoint is not signed by this key',
    )
    refused(withCheckpoint(signer.sign('no checkpoint\n')), 'it has no signed checkpoint')
    refused(withCheckpoint('no note'), 'it has no signed checkpoint')
  })
})

describe('the proof that a log was only appended to', () => {
  const extension = (first: number, size: number): Extension => ({
    first,
    path: pathOf(hashes, consistencyRanges(first, size)),
    checkpoint: signed(size),
  })
  const refusedExtension = (given: Extension, older: Checkpoint, why: string) =>
    expect(() => verifyExtension(given, older, verifier)).to.throw(BadReceipt, why)

  it('leads from each checkpoint to each newer one', () => {
    for (let size = 1; size <= events.length; size++)
      for (let first = 1; first <= size; first++)
        expect(verifyExtension(extension(first, size), checkpointOf(first), verifier)).to.deep.equal(checkpointOf(size))
  })

  it('is refused when an older event was changed', () => {
    const why = 'the log does not begin with the events of the older checkpoint'
    const root = Buffer.alloc(32, 1)
    for (const first of [3, 4, 6]) refusedExtension(extension(first, 6), { ...checkpointOf(first), root }, why)
    const proof = extension(3, 6)
    refusedExtension({ ...proof, path: proof.path.with(-1, wrong) }, checkpointOf(3), why)
    refusedExtension({ ...proof, path: proof.path.slice(1) }, checkpointOf(3), why)
  })

  it('is refused for another checkpoint, and with one that is not signed', () => {
    refusedExtension(extension(3, 6), checkpointOf(2), 'it is about another checkpoint')
    refusedExtension({ ...extension(3, 6), checkpoint: 'no note' }, checkpointOf(3), 'it has no signed checkpoint')
  })
})
