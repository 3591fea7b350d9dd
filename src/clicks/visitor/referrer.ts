import { isIP } from 'node:net'

/** Maximum length of a Referer header in characters; the rest is cut off before parsing. */
export const referrerLimit = 2_048

// Hosts that only forward visitors, with the site that uses them. They include their subdomains.
const shims: ReadonlyMap<string, string> = new Map([
  ['t.co', 'twitter.com'],
  ['mobile.twitter.com', 'twitter.com'],
  ['lnkd.in', 'linkedin.com'],
  ['out.reddit.com', 'reddit.com'],
  ['youtu.be', 'youtube.com'],
  ['l.wl.co', 'whatsapp.com'],
  ['slack-redir.net', 'slack.com'],
  ['t.umblr.com', 'tumblr.com'],
  ['away.vk.com', 'vk.com'],
  ['vk.cc', 'vk.com'],
  ['exit.sc', 'soundcloud.com'],
  ['link.zhihu.com', 'zhihu.com'],
  ['deref-gmx.net', 'gmx.net'],
  ['deref-web.de', 'web.de'],
  ['deref-mail.com', 'mail.com'],
  ['safelinks.protection.outlook.com', 'outlook.com'],
])

// Android apps, with their site. An unknown app is reported by its package name.
const packages: ReadonlyMap<string, string> = new Map([
  ['com.google.android.googlequicksearchbox', 'google.com'],
  ['com.google.android.gm', 'mail.google.com'],
  ['com.google.android.apps.magazines', 'news.google.com'],
  ['com.google.android.apps.messaging', 'messages.google.com'],
  ['com.google.android.apps.dynamite', 'chat.google.com'],
  ['com.google.android.youtube', 'youtube.com'],
  ['com.facebook.katana', 'facebook.com'],
  ['com.facebook.lite', 'facebook.com'],
  ['com.facebook.orca', 'messenger.com'],
  ['com.instagram.android', 'instagram.com'],
  ['com.instagram.barcelona', 'threads.net'],
  ['com.twitter.android', 'twitter.com'],
  ['com.linkedin.android', 'linkedin.com'],
  ['com.reddit.frontpage', 'reddit.com'],
  ['com.pinterest', 'pinterest.com'],
  ['com.snapchat.android', 'snapchat.com'],
  ['com.zhiliaoapp.musically', 'tiktok.com'],
  ['com.ss.android.ugc.trill', 'tiktok.com'],
  ['com.whatsapp', 'whatsapp.com'],
  ['com.whatsapp.w4b', 'whatsapp.com'],
  ['org.telegram.messenger', 'telegram.org'],
  ['org.telegram.messenger.web', 'telegram.org'],
  ['com.slack', 'slack.com'],
  ['com.discord', 'discord.com'],
  ['com.microsoft.teams', 'teams.microsoft.com'],
  ['com.microsoft.office.outlook', 'outlook.com'],
  ['com.tumblr', 'tumblr.com'],
  ['com.vkontakte.android', 'vk.com'],
  ['com.kakao.talk', 'kakao.com'],
  ['jp.naver.line.android', 'line.me'],
  ['com.tencent.mm', 'weixin.qq.com'],
  ['com.ycombinator.news', 'news.ycombinator.com'],
])

/** Returns the site behind a link shim, undefined for any other host. */
const siteOf = (host: string): string | undefined => {
  for (let at = host; at.includes('.'); at = at.slice(at.indexOf('.') + 1)) {
    const site = shims.get(at)
    if (site !== undefined) return site
  }
  return undefined
}

// Leaves at least two labels: m.me is a site, me is not.
const withoutPrefix = (host: string): string => host.replace(/^(?:(?:www|m|l|lm)\.)+(?=[^.]+\.[^.])/, '')

// URL.canParse cannot be used: on Node 20 and 22 it rejects Latin-1 letters once V8 has optimized it
const urlOf = (text: string): URL | undefined => {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

const appOf = (name: string): string =>
  /^[a-z]\w{0,63}(?:\.[a-z]\w{0,63}){1,7}$/i.test(name) ? (packages.get(name) ?? name.toLowerCase()) : ''

/**
 * Returns the site that a visitor came from: the host without `www.`, `m.`, `l.` and `lm.`, or the site of a link shim
 * or Android app. Returns `` when there is no referrer, or it is one of our hosts or an IP address.
 */
export const referrerHost = (header: string, isOurHost: (host: string) => boolean): string => {
  if (header === '') return '' // the usual case; a URL that fails to parse is the slowest one
  const url = urlOf(header.slice(0, referrerLimit))
  if (url?.protocol === 'android-app:') return appOf(url.hostname)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return ''
  const host = url.hostname.replace(/\.$/, '')
  if (host.length > 253 || host.startsWith('[') || isIP(host) !== 0) return ''
  const name = withoutPrefix(host)
  if (isOurHost(host) || isOurHost(name)) return ''
  return siteOf(host) ?? name
}

export type Network = 'facebook' | 'twitter' | 'instagram' | 'google'

// Google has a domain in each country; any other name that contains `google` may belong to someone else.
const networks: readonly (readonly [Network, RegExp])[] = [
  ['facebook', /(?:^|\.)(?:facebook\.com|fb\.me)$/],
  ['twitter', /(?:^|\.)(?:twitter|x)\.com$/],
  ['instagram', /(?:^|\.)instagram\.com$/],
  ['google', /(?:^|\.)google\.(?:com?(?:\.[a-z]{2})?|[a-z]{2}|cat)$/],
]

/** Returns the network in `socialCount` that a referrer belongs to, if any. */
export const network = (host: string): Network | undefined => networks.find(([, pattern]) => pattern.test(host))?.[0]
