import { expect } from 'chai'
import { isDevice } from '../../../src/clicks/visitor/agent.ts'
import { deviceNames, hasName, deviceOf, modelsIn, traitOf } from '../../../src/clicks/visitor/device.ts'

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
      expect(deviceOf(name) !== undefined, name).to.equal(true)
    for (const name of ['mac', 'macOS', 'Mac OS X', 'OS X', 'Macintosh', 'desktop', 'PC'])
      expect([isDevice(name, mac), isDevice(name, windows)], name).to.deep.equal([true, /desktop|pc/i.test(name)])
    for (const name of ['Windows', 'Windows 10', 'windows 11'])
      expect([isDevice(name, mac), isDevice(name, windows)], name).to.deep.equal([false, true])
  })

  it('is refused when no device has it', () => {
    for (const name of ['', 'toaster', 'window', 'windowsill', 'mac 7', '__proto__', 'constructor'])
      expect([deviceOf(name) !== undefined, isDevice(name, mac)], name).to.deep.equal([false, false])
  })

  it('means one or several kinds of devices', () => {
    const known = {
      phone: { os: 'iOS', device: 'mobile', models: ['iphone'], names: ['iphone', 'ios', 'mobile'] },
      ipad: { os: 'iOS', device: 'tablet', models: ['ipad'], names: ['ipad', 'ios', 'tablet'] },
      pixel: { os: 'Android', device: 'mobile', models: [], names: ['android', 'mobile'] },
      galaxyTab: { os: 'Android', device: 'tablet', models: [], names: ['android', 'tablet'] },
      pc: { os: 'Windows', device: 'desktop', models: [], names: ['desktop', 'windows'] },
      mac: { os: 'macOS', device: 'desktop', models: [], names: ['desktop', 'mac'] },
      linux: { os: 'Linux', device: 'desktop', models: [], names: ['desktop', 'linux'] },
      television: { os: 'Android', device: 'other', models: [], names: ['android'] },
    }
    for (const [what, { os, device, models, names }] of Object.entries(known)) {
      const traits = { os: () => os, device: () => device, models: () => models }
      expect(
        deviceNames.filter((name) => hasName(name, traits)),
        what,
      ).to.have.members(names)
    }
  })

  it('refers to a model, an operating system or a kind of device', () => {
    const asked = { iPhone: 'models', iPadOS: 'models', ios: 'os', 'Windows 8.1': 'os', PC: 'device', tablet: 'device' }
    for (const [name, trait] of Object.entries(asked)) expect(traitOf(name), name).to.equal(trait)
    expect(traitOf('toaster')).to.equal(undefined)
  })

  it('is understood with any spaces, and with one version of Windows only', () => {
    for (const name of ['windows  8.1', 'Windows\t10', 'WindowsVista', ' phone '])
      expect(deviceOf(name) !== undefined, name).to.equal(true)
    for (const name of ['windows 8.', 'windows 10 pro', 'my windows 10', 'windows 8.x'])
      expect(deviceOf(name) !== undefined, name).to.equal(false)
  })
})

describe('the models in a user agent', () => {
  it('are those that its words name', () => {
    expect(modelsIn('Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X)')).to.deep.equal(['iphone'])
    expect(modelsIn('Mozilla/5.0 (iPod touch; CPU iPhone OS 12_0 like Mac OS X)')).to.deep.equal(['iphone'])
    expect(modelsIn('Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X)')).to.deep.equal(['ipad'])
    expect(modelsIn(mac)).to.deep.equal([])
  })
})
