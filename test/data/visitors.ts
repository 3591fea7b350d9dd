import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import topUserAgents from 'top-user-agents'

const require = createRequire(import.meta.url)

/** User agents of ten thousand browsers seen on the web, and the hundred most common ones. */
export const agents = (() => {
  const file = join(dirname(require.resolve('user-agents')), 'user-agents.json')
  const profiles = JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly userAgent: string }[]
  return [...new Set([...profiles.map(({ userAgent }) => userAgent), ...topUserAgents])]
})()

/** Browsers by user agent: the first pattern that matches. An in-app window counts as the browser that draws it. */
export const browserNames: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOP[RXT]\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bYaBrowser\//, 'Yandex Browser'],
  [/\b(Ddg|DuckDuckGo)\//, 'DuckDuckGo'],
  [/\bEcosia /, 'Ecosia'],
  [/\bElectron\//, 'Electron'],
  [/\bGSA\//, 'Google Search'],
  [/\b(FxiOS|Firefox)\//, 'Firefox'],
  [/\b(CriOS|Chrome)\//, 'Chrome'],
  [/\bAppleWebKit\//, 'Safari'],
]
export const systemNames: readonly (readonly [RegExp, string])[] = [
  [/Windows NT/, 'Windows'],
  [/iPhone|iPad|iPod/, 'iOS'],
  [/Android/, 'Android'],
  [/CrOS/, 'Chrome OS'],
  [/Macintosh/, 'macOS'],
  [/Linux/, 'Linux'],
]
export const named = (names: typeof browserNames, agent: string) =>
  names.find(([pattern]) => pattern.test(agent))?.[1] ?? '?'

/** Public addresses of name servers, universities, broadcasters and providers, and their countries. */
export const addresses: readonly (readonly [address: string, country: string])[] = [
  ['8.8.8.8', 'United States'],
  ['9.9.9.9', 'United States'],
  ['2606:4700:4700::1111', 'United States'],
  ['2001:4860:4860::8888', 'United States'],
  ['24.48.0.1', 'Canada'],
  ['81.2.69.142', 'United Kingdom'],
  ['212.58.244.20', 'United Kingdom'],
  ['133.1.0.1', 'Japan'],
  ['202.12.27.33', 'Japan'],
  ['193.99.144.85', 'Germany'],
  ['2a02:2e0:3fe:1001:302::', 'Germany'],
  ['91.198.174.192', 'Netherlands'],
  ['2001:67c:2e8:22::c100:68b', 'Netherlands'],
  ['2a00:1450:4001::1', 'Ireland'],
  ['62.210.16.6', 'France'],
  ['80.67.169.12', 'France'],
  ['130.59.31.24', 'Switzerland'],
  ['151.1.1.1', 'Italy'],
  ['194.179.1.100', 'Spain'],
  ['193.166.4.49', 'Finland'],
  ['130.244.127.161', 'Sweden'],
  ['77.88.8.8', 'Russia'],
  ['200.160.2.3', 'Brazil'],
  ['200.10.60.1', 'Uruguay'],
  ['139.130.4.5', 'Australia'],
  ['168.95.1.1', 'Taiwan'],
  ['164.124.101.2', 'South Korea'],
  ['114.114.114.114', 'China'],
  ['196.25.1.1', 'South Africa'],
  ['41.204.160.1', 'Kenya'],
  ['10.0.0.7', 'Unknown'],
]

/** Referer headers, the site that each is recognized as, and its social network. */
type Network = 'facebook' | 'twitter' | 'google'
export const referrers: readonly (readonly [header: string, site: string, network?: Network])[] = [
  ['', 'Direct'],
  ['https://www.google.com/', 'google.com', 'google'],
  ['https://www.google.de/', 'google.de', 'google'],
  ['https://www.google.co.uk/search?q=short+links', 'google.co.uk', 'google'],
  ['https://t.co/Ab12Cd34Ef', 'twitter.com', 'twitter'],
  ['https://x.com/', 'x.com', 'twitter'],
  ['https://l.facebook.com/l.php?u=https%3A%2F%2Fexample.com%2Fa&h=AT0', 'facebook.com', 'facebook'],
  ['https://m.facebook.com/', 'facebook.com', 'facebook'],
  ['http://lm.facebook.com/', 'facebook.com', 'facebook'],
  ['https://www.instagram.com/', 'instagram.com'],
  ['https://l.instagram.com/?u=https%3A%2F%2Fexample.com', 'instagram.com'],
  ['https://www.reddit.com/r/programming/comments/1abcde/title/', 'reddit.com'],
  ['https://out.reddit.com/t3_1abcde?url=https%3A%2F%2Fexample.com', 'reddit.com'],
  ['https://lnkd.in/dAbCdEf', 'linkedin.com'],
  ['https://www.linkedin.com/feed/', 'linkedin.com'],
  ['https://www.youtube.com/redirect?q=https%3A%2F%2Fexample.com', 'youtube.com'],
  ['https://news.ycombinator.com/item?id=40000000', 'news.ycombinator.com'],
  ['https://www.bing.com/', 'bing.com'],
  ['https://duckduckgo.com/', 'duckduckgo.com'],
  ['https://en.m.wikipedia.org/wiki/URL_shortening', 'en.m.wikipedia.org'],
  ['https://github.com/nodejs/node/issues/1', 'github.com'],
  ['https://www.xn--bcher-kva.example/katalog?seite=2', 'xn--bcher-kva.example'],
  ['android-app://com.google.android.gm/', 'mail.google.com', 'google'],
  ['android-app://org.telegram.messenger/', 'telegram.org'],
]

/** Accept-Language headers, and the preferred language of each. */
export const languages: readonly (readonly [header: string, language: string])[] = [
  ['en-US,en;q=0.9', 'en'],
  ['en-GB,en-US;q=0.9,en;q=0.8', 'en'],
  ['de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', 'de'],
  ['de,en-US;q=0.7,en;q=0.3', 'de'],
  ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
  ['pt-BR,pt;q=0.9', 'pt'],
  ['es-419,es;q=0.9', 'es'],
  ['zh-TW,zh;q=0.9,en-US;q=0.8', 'zh'],
  ['ja', 'ja'],
  ['ru-RU,ru;q=0.8,en-US;q=0.5,en;q=0.3', 'ru'],
  ['*', ''],
]
