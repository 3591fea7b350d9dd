import { expect } from 'chai'
import { isDevice } from '../../../src/clicks/visitor/agent.ts'
import { deviceNames, isDeviceName } from '../../../src/clicks/visitor/device.ts'

const mac =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const windows =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

describe('the name of a device', () => {
  it('is understood in the usual spellingVariants', () => {
    for (const name of [
      ...deviceNames,
      'macOS',
      'Mac OS X',
      'OS X',
      'Windows 10',
      'windows XP',
      'AndroidOS',
      'Smartphone',
      'PC',
    ])
      expect(isDeviceName(name), name).to.equal(true)
    for (const name of ['mac', 'macOS', 'Mac OS X', 'OS X', 'Macintosh', 'desktop', 'PC'])
      expect([isDevice(name, mac), isDevice(name, windows)], name).to.deep.equal([true, /desktop|pc/i.test(name)])
    for (const name of ['Windows', 'Windows 10', 'windows 11'])
      expect([isDevice(name, mac), isDevice(name, windows)], name).to.deep.equal([false, true])
  })

  it('is refused when no device has it', () => {
    for (const name of ['', 'toaster', 'window', 'windowsill', 'mac 7', '__proto__', 'constructor'])
      expect([isDeviceName(name), isDevice(name, mac)], name).to.deep.equal([false, false])
  })
})
