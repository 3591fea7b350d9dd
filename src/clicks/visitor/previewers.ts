/** Servers of networks that talk to each other: each fetches a link when one of its members has shared it. */
const federated = [
  ...[
    'Mastodon',
    'Pleroma',
    'Akkoma',
    'Misskey',
    'Summaly',
    'Sharkey',
    'Firefish',
    'Calckey',
    'Iceshrimp',
    'CherryPick',
  ],
  ...['GoToSocial', 'Lemmy', 'PieFed', 'Mbin', 'Kbin', 'PeerTube', 'Pixelfed', 'Friendica', 'Hubzilla', 'diaspora'],
  ...[
    'Takahe',
    'BookWyrm',
    'Mobilizon',
    'Ktistec',
    'Hollo',
    'Mitra',
    'WriteFreely',
    'Castopod',
    'Owncast',
    'Smithereen',
    'Bridgy Fed',
  ],
]

/**
 * Programs that fetch a shared link to show a preview of it: chats, social networks, mail. The first match decides, and
 * its name is recorded, never text of the user agent. The patterns are narrow on purpose: people use the in-app
 * browsers of the same programs (`Instagram 131…`, `[FBAN/FBIOS…]`, `[LinkedInApp]`, `… Safari/537.36 WhatsApp/2.24`,
 * `Twitter for iPhone`, `[Pinterest/iOS]`).
 */
export const previewers: readonly (readonly [name: string, pattern: RegExp])[] = [
  // Apple's Messages names both Facebook's and Twitter's previewer, and runs on the sender's device
  ['iMessage', /facebookexternalhit\/[\d.]+ Facebot Twitterbot/i],
  ['KakaoTalk', /kakaotalk-scrap/i],
  ['LINE', /line-poker/i],
  ['facebookexternalhit', /facebookexternalhit/i],
  ['facebookcatalog', /facebookcatalog/i],
  ['Facebot', /\bFacebot\b/i],
  // Signal uses this name, too, and copies of the app put theirs before it; the in-app browser has it at the end
  ['WhatsApp', /^\w*WhatsApp\b/i],
  ['Slackbot-LinkExpanding', /Slackbot-LinkExpanding/i],
  ['Slack-ImgProxy', /Slack-ImgProxy/i],
  ['Slackbot', /\bSlackbot\b/i],
  // before Twitterbot: "TelegramBot (like TwitterBot)"
  ['TelegramBot', /TelegramBot/i],
  ['Twitterbot', /Twitterbot/i],
  ['Discordbot', /Discordbot/i],
  ['LinkedInBot', /LinkedInBot/i],
  // Skype and Teams
  ['SkypeUriPreview', /SkypeUriPreview/i],
  ['MicrosoftPreview', /MicrosoftPreview/i],
  ['Viber', /^Viber(?:UrlDownloader)?\b/i],
  ['Snapchat', /Snap URL Preview Service|Snapchat-Proxy/i],
  ['DingTalk', /DingTalkBot-LinkService/i],
  ['Synapse', /^Synapse\b/i],
  ['Mattermost', /Mattermost-Bot|^Mattermost\b/i],
  ['Rocket.Chat', /^(?!.*AppleWebKit).*Rocket\.?Chat\/\d/i],
  ['Pinterestbot', /Pinterestbot|^Pinterest\/0\./i],
  ['redditbot', /redditbot/i],
  ['Tumblr', /^Tumblr\/\d/i],
  ['vkShare', /vkShare/i],
  ['OdklBot', /OdklBot/i],
  ['XING', /XING-contenttabreceiver/i],
  ['Bluesky', /Bluesky Cardyb/i],
  ['Keybase', /\bKeybaseBot\b/i],
  ['Steam', /\bSteamChatURLLookup\b/i],
  ['GroupMe', /\bGroupMeBot\b/i],
  ['Gadu-Gadu', /\bPeekBot\b/i],
  ['Google Messages', /^GoogleMessages\b/i],
  ['Skype for Business', /^OC\b.*\bSkype for Business\b/i],
  // the program itself sends the request, on Apple's devices
  ['Chat', /^(?:Telegram|Discord|Slack|Zalo|Signal|Threema|Wire)(?:\/\S+)? CFNetwork\b/i],
  ['Element', /^Element\b.*\bMatrixAndroidSdk/i],
  // a person shares a link with an app
  ['Share', /^[\w. ]*Shar(?:e|ing)Extension/i],
  ...federated.map(
    (name) => [name, new RegExp(String.raw`^(?!.*(?:AppleWebKit|Firefox)).*\b${name}(?:Bot)?\b`, 'i')] as const,
  ),
  ['ActivityPub', /\bActivityPub\b/i],
  ['Flipboard', /FlipboardProxy/i],
  ['Quora', /Quora Link Preview/i],
  ['Bitrix', /Bitrix link preview/i],
  ['Embedly', /Embedly/i],
  ['Iframely', /Iframely/i],
  ['Yahoo Link Preview', /Yahoo Link Preview/i],
  ['YahooMailProxy', /YahooMailProxy/i],
  [
    'Mail',
    /^(?:WindowsMail|Outlook-Express|The Bat\b|Airmail|Android-Gmail|Yahoo(?:%20| |Mobile)?Mail|NaverMailApp|FastmailUA)/i,
  ],
  ['Mail', /^(?:Windows-Live-Mail|Claws Mail|Geary|K-\d Mail|Mailbird|eMClient|SamsungEmail|Shortwave)/i],
  ['Mail', /^(?:Canary|Evolution)(?:[/ ]|$)|^Mail(?:\/\S+)? CFNetwork\b/i],
  // Google's Messages, Chat and Gmail
  ['Google-PageRenderer', /Google-PageRenderer/i],
  ['Google snippet', /developers\.google\.com\/\+\/web\/snippet/i],
  ['GoogleImageProxy', /GoogleImageProxy/i],
  // Word, Excel and Outlook request a link themselves before they open the browser
  [
    'Microsoft Office',
    /\bms-office\b|\bMSOffice\b|\bMicrosoft Outlook\b|^Microsoft[ -](?:Office|WebDAV)|^Outlook-(?:iOS|Android)\b|^MacOutlook\b|\bWAC-OFU\b/i,
  ],
  [
    'Office',
    /^Mozilla(?:\/5\.0 \(Macintosh; Intel Mac OS X\)| Macintosh Intel Mac OS) (?:Word|Excel|PowerPoint|Outlook)\b/i,
  ],
  ['Office', /^(?:Word|Excel|PowerPoint|OneNote|Outlook|LibreOffice|OpenOffice|WPS ?Office|Pages|Keynote|Numbers)\b/i],
  ['Discourse', /^Discourse\b|\bOnebox\b/i],
  ['Forum', /^(?:XenForo|NodeBB|Flarum|phpBB|vBulletin|MyBB|Invision)\b/i],
  ['Zoom', /\bZoomBot\b|\bZoom[. ](?:Win|Mac)\b/i],
  ['Lark', /\bLarkUrl\w*|\bFeishu\w*Preview/i],
  ['Webex', /\bWebexTeams\b|^Webex\b/i],
  ['Notion', /\bNotionEmbedder\b|^Notion\b/i],
  ['Evernote', /\bEvernoteRichLinkBot\b/i],
  ['Medium', /\bMediumbot-MetaTagFetcher\b/i],
  ['Asana', /\bWebsiteMetadataRetriever\b/i],
  ['Nextcloud', /^Nextcloud\b/i],
  // the name says what a program does; pictures for search results are no previews for a person
  [
    'Link preview',
    /^(?!.*\b(?:BingPreview|Google)\b)(?!.*AppleWebKit(?!.*\b(?:compatible|https?)\b)).*(?:preview|unfurl|oembed|open-?graph|(?:link|url)[-_ ]?(?:expand|embed|meta|snippet|card))/i,
  ],
]
