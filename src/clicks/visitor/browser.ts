// It imports nothing, so that the dashboard knows browsers by the same names.

/** Returns names that mean themselves. */
export const sameNames = (names: string): readonly (readonly [string, string])[] =>
  names.split(', ').map((name) => [name, name])

/**
 * The family of a browser by the name that Bowser has for it. For an unknown browser Bowser takes a name from the user
 * agent itself, so only the names in this list become labels.
 */
const families: ReadonlyMap<string, string> = new Map([
  ...sameNames(
    'Amazon Silk, Android Browser, BlackBerry, Brave, Chrome, Chromium, DuckDuckGo, Electron, Epiphany, Firefox',
  ),
  ...sameNames(
    'Google Search, HeyTap Browser, Internet Explorer, K-Meleon, Ladybird, LibreWolf, Maxthon, Opera, Pale Moon',
  ),
  ...sameNames(
    'Puffin, QQ Browser, QQ Browser Lite, QupZilla, Safari, SeaMonkey, Sleipnir, Sogou Browser, Swing, UC Browser',
  ),
  ...sameNames('Vivaldi, Vivo Browser, WeChat, Yandex Browser'),
  ['Focus', 'Firefox'],
  ['Microsoft Edge', 'Edge'],
  ['Miui', 'MIUI Browser'],
  ['NAVER Whale Browser', 'Whale'],
  ['Opera Coast', 'Opera'],
  ['Opera Touch', 'Opera'],
  ['PlayStation 4', 'PlayStation'],
  ['Sailfish', 'Sailfish Browser'],
  ['Samsung Internet for Android', 'Samsung Internet'],
  ['Tizen', 'Tizen Browser'],
  ['WebOS Browser', 'webOS Browser'],
])

/**
 * The families of browsers that Bowser does not know or takes for others, by the product that the user agent has with a
 * version.
 */
export const products: ReadonlyMap<string, string> = new Map([
  ...sameNames(
    'Basilisk, Brave, Dillo, DuckDuckGo, ELinks, Ecosia, Falkon, Floorp, Kindle, Konqueror, Links, Lynx, Midori',
  ),
  ...sameNames('Mint Browser, NetSurf, Opera Mini, Quark, Waterfox, Whale, Wolvic, qutebrowser, w3m'),
  ['360EE', '360 Browser'],
  ['360SE', '360 Browser'],
  ['AVG', 'AVG Secure Browser'],
  ['AlohaBrowser', 'Aloha Browser'],
  ['Avast', 'Avast Secure Browser'],
  ['AvastSecureBrowser', 'Avast Secure Browser'],
  ['CCleaner', 'CCleaner Browser'],
  ['Ddg', 'DuckDuckGo'],
  ['GSA', 'Google Search'],
  ['HuaweiBrowser', 'Huawei Browser'],
  ['KAIOS', 'KaiOS Browser'],
  ['LG Browser', 'webOS Browser'],
  ['NintendoBrowser', 'Nintendo Browser'],
  ['Norton', 'Norton Private Browser'],
  ['OPiOS', 'Opera Mini'],
  ['OculusBrowser', 'Meta Quest Browser'],
  ['Otter', 'Otter Browser'],
  ['SznProhlizec', 'Seznam Browser'],
  ['UBrowser', 'UC Browser'],
  ['coc_coc_browser', 'Coc Coc'],
])

/** Returns the family of a browser, as statistics name it, by the name that Bowser has for it. */
export const familyOf = (name: string | undefined): string | undefined => families.get(name ?? '')

/** The families of browsers, in alphabetical order. */
export const browserNames: readonly string[] = [...new Set([...families.values(), ...products.values()])].toSorted(
  (a, b) => a.localeCompare(b),
)

const byName: ReadonlyMap<string, string> = new Map(
  [...families, ...products, ['GNOME Web', 'Epiphany'] as const, ...sameNames(browserNames.join(', '))].map(
    ([name, family]) => [name.toLowerCase(), family],
  ),
)

/** Returns the family of browsers that has this name, in any letter case. */
export const browserOf = (name: string): string | undefined => byName.get(name.trim().toLowerCase())

/** Whether a name is that of a family of browsers; false for a name that no browser has. */
export const isBrowser = (name: string, family: string): boolean => browserOf(name) === family
