/** The meaning of a link's fields when it is created or changed. */
export const linkFields = {
  url: 'destination, http or https (or mailto, tel, sms, geo or a scheme that the operator allows), at most 2,048 characters; `https://` is added to an address without a scheme',
  custom:
    'alias: 1 to 64 letters, digits, `-` and `_`; on a domain with exact aliases a whole path; random if not sent',
  type: '`direct`, `frame`, `splash`, `splash-<id>` or `overlay-<id>`; an id alone is that of a splash page',
  password: 'visitors have to enter it',
  expiry: 'a time in UTC or with an offset, or a day for its end',
  title: 'for your lists',
  description: 'for your lists',
  geotarget: 'other destinations by country, by its English name or ISO code; at most 300 targets of each kind',
  devicetarget:
    'other destinations by device: `iphone`, `ipad`, `ios`, `android`, `mobile`, `tablet`, `desktop`, `windows`, `mac`, `linux`',
  browsertarget:
    'other destinations by browser, as statistics name it: `Chrome`, `Edge`, `Firefox`, `Safari`, `Samsung Internet`, … in any letter case',
  languagetarget: 'other destinations by language code',
  metatitle: 'title in previews of chats and social networks',
  metadescription: 'description in previews',
  metaimage: 'picture in previews',
  parameters: 'appended to the query of the destination',
  domain: 'one of your branded domains; `""` is the domain of the service',
  pixels: 'ids of pixels',
  campaign: 'id of the campaign',
  channel: 'id of a channel to add the link to; null takes it out of all',
  tags: 'at most 20, each of at most 50 characters without commas, stored in lower case; or one string with commas between them',
  notes: 'for you alone: no visitor sees them; at most 4,000 characters',
  archived: 'true leaves the link out of the list; it still redirects',
  starts: 'before this time the link is not found; a day means its beginning; must be before `expiry`',
  expired_url: 'where visitors are sent after `expiry` or `max_clicks`, instead of a page; not counted as a click',
  max_clicks:
    'the link ends with this number of clicks: up to 1,000 exactly in one process, above that those of the last second may exceed it',
  forward:
    'true appends the query of the short address to that of the destination, at most 2,048 characters, without parameters that the destination or `parameters` have; `path` also appends what follows the alias, or puts it where the destination has `{path}`',
  variants:
    'destinations that visitors are split between in proportion to `weight` (0 to 1,000, 1 if not sent; 0 pauses one): 2 to 10. A visitor stays at a variant. `id` is that of a variant that the link has; `url` is then only what lists show',
}
