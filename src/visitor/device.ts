import { readAgent } from './agent.ts'

/** The names of device targets, and which user agents each matches. */
const devices = {
  iphone: (agent: string) => /\b(?:iPhone|iPod)\b/.test(agent),
  ipad: (agent: string) => /\biPad\b/.test(agent),
  ios: (agent: string) => readAgent(agent).os.family === 'iOS',
  android: (agent: string) => readAgent(agent).os.family === 'Android',
  mobile: (agent: string) => readAgent(agent).device === 'mobile',
  tablet: (agent: string) => readAgent(agent).device === 'tablet',
  desktop: (agent: string) => readAgent(agent).device === 'desktop',
  windows: (agent: string) => readAgent(agent).os.family === 'Windows',
  mac: (agent: string) => readAgent(agent).os.family === 'macOS',
  linux: (agent: string) => readAgent(agent).os.family === 'Linux',
}
type Device = keyof typeof devices

export const deviceNames = Object.keys(devices)

/** Other names, without spaces. */
const synonyms: Readonly<Record<string, Device>> = {
  macos: 'mac',
  macosx: 'mac',
  osx: 'mac',
  macintosh: 'mac',
  win: 'windows',
  androidos: 'android',
  iphoneos: 'ios',
  ipados: 'ipad',
  phone: 'mobile',
  smartphone: 'mobile',
  pc: 'desktop',
  computer: 'desktop',
}

const deviceOf = (name: string): Device | undefined => {
  const plain = name.toLowerCase().replaceAll(/\s+/g, '')
  if (Object.hasOwn(devices, plain)) return plain as Device
  if (Object.hasOwn(synonyms, plain)) return synonyms[plain]
  // the service does not distinguish versions: browsers no longer say which Windows or macOS it is
  return /^windows(?:xp|vista|\d+(?:\.\d+)?)$/.test(plain) ? 'windows' : undefined
}

/** Whether some device has this name, in any letter case. */
export const isDeviceName = (name: string): boolean => deviceOf(name) !== undefined

/** Whether a user agent is the device with this name; false for a name that no device has. */
export const isDevice = (name: string, agent: string): boolean => {
  const device = deviceOf(name)
  return device !== undefined && devices[device](agent)
}
