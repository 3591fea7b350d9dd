// It imports nothing, so that the dashboard knows devices by the same names.

/** The devices that only the user agent names. */
export type Model = 'iphone' | 'ipad'
/** An iPad that asks for the site of a desktop claims to be a Mac. These programs, and `Mobile`, are of iOS only. */
const models: Readonly<Record<Model, RegExp>> = {
  iphone: /\b(?:iPhone|iPod)\b/,
  ipad: /\biPad\b|\bMacintosh\b.*\b(?:CriOS|FxiOS|EdgiOS|OPiOS|OPT|GSA|DdgiOS|Mobile)\b/,
}

/** Returns the models that a user agent names, or its words. Some phones and consoles are only `like iPhone`. */
export const modelsIn = (agent: string): readonly Model[] => {
  const named = agent.replace(/\blike i(?:Phone|Pod)\b/, '')
  return (['iphone', 'ipad'] as const).filter((model) => models[model].test(named))
}

/** What targets ask about a device. A function is called only when a target needs it. */
export interface Traits {
  /** family of the operating system */
  readonly os: () => string
  readonly device: () => string
  readonly models: () => readonly string[]
}

/** The names of device targets, and which devices each matches. */
const devices = {
  iphone: ({ models }: Traits) => models().includes('iphone'),
  ipad: ({ models }: Traits) => models().includes('ipad'),
  ios: ({ os }: Traits) => os() === 'iOS',
  android: ({ os }: Traits) => os() === 'Android',
  mobile: ({ device }: Traits) => device() === 'mobile',
  tablet: ({ device }: Traits) => device() === 'tablet',
  desktop: ({ device }: Traits) => device() === 'desktop',
  windows: ({ os }: Traits) => os() === 'Windows',
  mac: ({ os }: Traits) => os() === 'macOS',
  linux: ({ os }: Traits) => os() === 'Linux',
}
export type Device = keyof typeof devices

export const deviceNames = Object.keys(devices) as readonly Device[]

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

/** Returns the device that has this name, in any letter case. */
export const deviceOf = (name: string): Device | undefined => {
  const plain = name.toLowerCase().replaceAll(/\s+/g, '')
  if (Object.hasOwn(devices, plain)) return plain as Device
  if (Object.hasOwn(synonyms, plain)) return synonyms[plain]
  // the service does not distinguish versions: browsers no longer say which Windows or macOS it is
  return /^windows(?:xp|vista|\d+(?:\.\d+)?)$/.test(plain) ? 'windows' : undefined
}

/** Whether a device has this name; false for a name that no device has. */
export const hasName = (name: string, traits: Traits): boolean => {
  const device = deviceOf(name)
  return device !== undefined && devices[device](traits)
}

/** Returns what the target with this name asks about a device. */
export const traitOf = (name: string): keyof Traits | undefined => {
  let asked: keyof Traits | undefined
  const note =
    <T>(trait: keyof Traits, none: T) =>
    () => {
      asked = trait
      return none
    }
  hasName(name, { os: note('os', ''), device: note('device', ''), models: note('models', []) })
  return asked
}
