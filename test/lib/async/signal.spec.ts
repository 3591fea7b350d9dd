import { expect } from 'chai'
import { createSignal } from '../../../src/lib/async/signal.ts'

describe('signal', () => {
  const never = new AbortController().signal

  it('wakes the readers of a topic and those of everything, but not the readers of another topic', async () => {
    const signal = createSignal()
    const woken: string[] = []
    for (const topic of ['domain', 'clicks', undefined])
      void signal.after(signal.count(topic), never, topic).then(() => woken.push(topic ?? 'all'))
    signal.notify('clicks')
    await Promise.resolve()
    expect(woken).to.deep.equal(['clicks', 'all'])
    expect([signal.count('domain'), signal.count('clicks'), signal.count()]).to.deep.equal([0, 1, 1])
  })

  it('wakes every reader when the notification does not name a topic', async () => {
    const signal = createSignal()
    const waits = ['domain', 'clicks', undefined].map((topic) => signal.after(signal.count(topic), never, topic))
    signal.notify()
    await Promise.all(waits)
    expect([signal.count('domain'), signal.count('clicks'), signal.count()]).to.deep.equal([1, 1, 1])
  })

  it('does not lose a notification between counting and waiting', async () => {
    const signal = createSignal()
    const known = signal.count('domain')
    signal.notify('domain')
    await signal.after(known, never, 'domain')
  })
})
