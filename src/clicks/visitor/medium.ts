/** How a visitor came. Each click has one of these, so that no visitor makes up another. */
export const media = ['direct', 'search', 'social', 'mail', 'ai', 'ads', 'other'] as const
export type Medium = (typeof media)[number]

/** Characters of a query that are read. */
export const queryLimit = 2048

type Names = Readonly<Partial<Record<Medium, string>>>
const byName = (names: Names): ReadonlyMap<string, Medium> =>
  new Map(
    Object.entries(names).flatMap(([medium, list]) => list.split(' ').map((name) => [name, medium as Medium] as const)),
  )

/**
 * Sites with all hosts below them, and Android apps. `*` is `com`, the ending of a country, or both. Search engines
 * that offer more than a search are in `portals`.
 */
const sites = byName({
  search:
    'bing.com duckduckgo.com ecosia.org qwant.com startpage.com search.brave.com kagi.com mojeek.com swisscows.com metager.org metager.de presearch.com ' +
    'search.yahoo.* search.naver.com search.daum.net seznam.cz sogou.com so.com coccoc.com ask.com search.aol.com dogpile.com ' +
    'webcrawler.com excite.com lycos.com search.lilo.org karmasearch.org petalsearch.com go.mail.ru nova.rambler.ru ya.ru gibiru.com yep.com ' +
    'suche.web.de suche.gmx.net suche.t-online.de search.ch images.google.* encrypted.google.com cse.google.com lens.google.com ' +
    'scholar.google.* shopping.google.* com.duckduckgo.mobile.android',
  social:
    'facebook.com fb.com fb.me fb.watch m.me messenger.com instagram.com threads.net threads.com twitter.com x.com linkedin.com reddit.com redd.it pinterest.* pin.it ' +
    'tiktok.com douyin.com snapchat.com youtube.com vimeo.com dailymotion.com twitch.tv whatsapp.com wa.me telegram.org telegram.me t.me signal.org ' +
    'discord.com discordapp.com slack.com teams.microsoft.com teams.live.com teams.cloud.microsoft chat.google.com messages.google.com tumblr.com ' +
    'vk.com ok.ru weibo.com weibo.cn weixin.qq.com qzone.qq.com zhihu.com douban.com xiaohongshu.com bilibili.com line.me kakao.com viber.com ' +
    'mastodon.social mastodon.online mstdn.social bsky.app bsky.social lemmy.world lemmy.ml pixelfed.social news.ycombinator.com lobste.rs ' +
    'quora.com xing.com flickr.com nextdoor.com band.us zalo.me mixi.jp truthsocial.com',
  mail:
    'mail.google.com inbox.google.com outlook.com outlook.live.com outlook.office.com outlook.office365.com outlook.cloud.microsoft hotmail.com ' +
    'mail.yahoo.* mail.aol.com gmx.* gmx.net web.de mail.com mail.ru mail.yandex.* proton.me protonmail.com tuta.com tutanota.com fastmail.com ' +
    'icloud.com hey.com posteo.de mailbox.org mail.zoho.* mail.qq.com mail.163.com mail.126.com mail.naver.com mail.daum.net ' +
    'laposte.net email.seznam.cz poczta.onet.pl poczta.wp.pl list-manage.com mailchi.mp ' +
    'com.yahoo.mobile.client.android.mail com.samsung.android.email.provider com.fsck.k9 net.thunderbird.android ch.protonmail.android ' +
    'de.gmx.mobile.android.mail de.web.mobile.android.mail ru.mail.mailapp',
  ai:
    'chatgpt.com openai.com claude.ai perplexity.ai gemini.google.com bard.google.com aistudio.google.com notebooklm.google.com ' +
    'notebooklm.google copilot.microsoft.com copilot.com copilot.cloud.microsoft edgeservices.bing.com mistral.ai deepseek.com grok.com x.ai meta.ai ' +
    'poe.com you.com phind.com pi.ai character.ai kimi.com kimi.ai kimi.moonshot.cn doubao.com qwen.ai tongyi.com tongyi.aliyun.com ' +
    'yiyan.baidu.com ernie.baidu.com chatglm.cn chat.z.ai yuanbao.tencent.com manus.im genspark.ai duck.ai iask.ai felo.ai komo.ai andisearch.com ' +
    'consensus.app openevidence.com lumo.proton.me venice.ai com.openai.chatgpt com.anthropic.claude ai.perplexity.app.android ' +
    'com.google.android.apps.bard com.microsoft.copilot com.deepseek.chat ai.x.grok',
  ads: 'doubleclick.net googleadservices.com googlesyndication.com adservice.google.* syndicatedsearch.goog taboola.com outbrain.com criteo.com',
})
/** Hosts of search engines whose other hosts are something else: mail, documents, news. */
const portals = byName({ search: 'google.* yahoo.* yandex.* baidu.com naver.com daum.net aol.com' })

// the endings that `*` matches; any other name that contains `google` may belong to someone else
const endings = /\.(?:com?(?:\.[a-z]{2})?|[a-z]{2}|cat)$/
const mailHost = /^(?:web|e)?mail\d{0,2}\.|^(?:roundcube|zimbra|owa)\./

const nearest = (host: string): Medium | undefined => {
  for (let at = host; at.includes('.'); at = at.slice(at.indexOf('.') + 1)) {
    const found = sites.get(at)
    if (found) return found
  }
  return undefined
}
/** Returns the medium of a host or an app that is known. */
const known = (host: string): Medium | undefined => {
  const anywhere = host.replace(endings, '.*')
  return portals.get(host) ?? portals.get(anywhere) ?? nearest(host) ?? nearest(anywhere)
}

/** Returns the medium of a referrer, as a click has it. */
const mediumOfHost = (host: string): Medium => known(host) ?? (mailHost.test(host) ? 'mail' : 'other')

/** Words of `utm_medium`, as advertisers and tools for mails write them; a word that begins with `paid` is of ads. */
const tagWords = byName({
  ads: 'cpa cpc cpe cpl cpm cpp cpv ppc ppv ad ads adwords banner display retargeting remarketing sponsored',
  mail: 'mail email newsletter newsletters',
  social: 'social sm',
  ai: 'ai llm chatbot',
  search: 'organic search seo',
})
const strongest = ['ads', 'mail', 'social', 'ai', 'search'] as const
/** Names of sites in `utm_source` that are not those of their hosts. */
const sourceNames = byName({
  social: 'fb ig insta meta hackernews',
  mail: 'mail email newsletter gmail mailchimp klaviyo',
  ai: 'gemini copilot mistral',
})
/** Parameters by which networks and tools for mails recognise the clicks that they have sent, in lower case. */
const clickIds = byName({
  ads: 'gclid gbraid wbraid dclid gad_source msclkid ttclid twclid li_fat_id rdt_cid sccid yclid',
  social: 'fbclid igsh igshid',
  mail: 'mc_eid mc_cid _hsenc _hsmi mkt_tok',
})
/** What a query without anything to read does not have. */
const hint = /utm_|cl(?:k)?id|braid|gad_|fat_id|_cid|sccid|igsh|mc_|_hs|mkt_/i

const wordsOf = (text: string) => text.toLowerCase().split(/[^a-z0-9]+/)
/** Returns what a tag says; undefined when it says nothing of a medium. */
const ofTag = (tag: string): Medium | undefined => {
  const found = new Set(wordsOf(tag).map((word) => (word.startsWith('paid') ? 'ads' : tagWords.get(word))))
  return strongest.find((medium) => found.has(medium))
}
/** characters of a name: of a host (RFC 1035) */
const longestName = 253
const ofSource = (text: string): Medium | undefined => {
  if (text.length > longestName) return undefined
  const name = text.toLowerCase()
  return sourceNames.get(name) ?? (name.includes('.') ? known(name) : (known(`${name}.com`) ?? known(`${name}.ai`)))
}

/** Returns the last value of each parameter of a query by its name in lower case. */
const parametersOf = (query: string): ReadonlyMap<string, string> =>
  new Map(
    [...new URLSearchParams(query.slice(0, queryLimit))].map(([name, value]) => [name.toLowerCase(), value.trim()]),
  )

/**
 * Returns how the visitor came by what the query of the visit says: a click that an advertisement was paid for, then
 * the tags, then the parameters of networks. Undefined when it says nothing.
 */
export const mediumOfQuery = (query: string): Medium | undefined => {
  if (!hint.test(query)) return undefined
  const parameters = parametersOf(query)
  const ids = new Set([...parameters].map(([name, value]) => (value ? clickIds.get(name) : undefined)))
  if (ids.has('ads')) return 'ads'
  return (
    ofTag(parameters.get('utm_medium') ?? '') ??
    ofSource(parameters.get('utm_source') ?? '') ??
    strongest.find((medium) => ids.has(medium))
  )
}

/** Returns what the owner's tag in a destination says. Other parameters may be left from where it was copied. */
const mediumOfDestination = (url: string): Medium | undefined => {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? []
  return query.includes('utm_medium') ? ofTag(parametersOf(query).get('utm_medium') ?? '') : undefined
}

/** Browsers inside the apps of networks, which often send no referrer. */
const inApp =
  /\[(?:FBAN|FBAV|FB_IAB|LinkedInApp|Pinterest)\b|\b(?:Instagram|Barcelona|MicroMessenger|KAKAOTALK)[ /]\d|\b(?:Snapchat|Line)\/\d|\bTwitter for |\b(?:musical_ly|trill)_\d/

interface Came {
  /** host of the referrer, or the app; empty when there is none */
  readonly referrer: string
  /** what the query of the visit has said */
  readonly asked: Medium | undefined
  readonly agent: string
  readonly destination: string
}

/** Returns how a visitor came: by the first of these that says it. docs/counting.md has the rules. */
export const mediumOf = ({ referrer, asked, agent, destination }: Came): Medium => {
  if (asked) return asked
  if (referrer !== '') return mediumOfHost(referrer)
  return inApp.test(agent) ? 'social' : (mediumOfDestination(destination) ?? 'direct')
}
