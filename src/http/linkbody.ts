import { z } from 'zod'
import { campaign } from '../commands/campaign.ts'
import { channel } from '../commands/channel.ts'
import type { Decider } from '../commands/decider.ts'
import { overlay } from '../commands/overlay.ts'
import type { Owned, OwnedCommand } from '../commands/owned.ts'
import { pixel } from '../commands/pixel.ts'
import { Refused } from '../commands/decider.ts'
import { splash } from '../commands/splash.ts'
import type { DomainEvent } from '../events/index.ts'
import type { LinkFields } from '../events/link.ts'
import { fail, Failure } from './api/errors.ts'
import { owns } from './owned.ts'
import type { Services } from './api/route.ts'
import { alias, bodyId, expiry, must, orEmpty, orNone, text, url } from './api/fields.ts'

const targets = <N extends string>(name: N) =>
  orNone(
    z
      .array(
        z.object({ [name]: text(64), link: url } as Record<N, z.ZodString> & { link: typeof url }),
        must('an array of objects'),
      )
      .max(50, 'must have at most 50 entries'),
  ).transform((entries) =>
    firstOfEach(
      (entries ?? []).map((entry) => ({
        name: (entry as Record<N, string>)[name].trim(),
        url: (entry as { link: string }).link,
      })),
    ),
  )
/** A target named twice: the first counts. */
const firstOfEach = <T extends { name: string }>(entries: readonly T[]) =>
  [...new Map(entries.toReversed().map((entry) => [entry.name.toLowerCase(), entry])).values()].toReversed()

const parameters = orNone(
  z
    .array(
      z.object({ name: text(256).optional(), value: z.union([z.number().transform(String), text(256)]).default('') }),
      must('an array of objects'),
    )
    .max(20, 'must have at most 20 entries'),
).transform((entries) => (entries ?? []).flatMap(({ name, value }) => (name ? [{ name, value }] : [])))

const pixels = orNone(z.array(bodyId, must('an array of ids')).max(20, 'must have at most 20 ids')).transform((ids) => [
  ...new Set(ids ?? []),
])
/** A way of redirecting; a bare id is that of a splash page. */
const type = z
  .union([z.int().transform(String), z.string(must('a text')), z.null().transform(() => '')])
  .transform((given) => (/^[1-9]\d*$/.test(given) ? `splash-${given}` : given.toLowerCase() || 'direct'))
  .pipe(
    z
      .string()
      .regex(
        /^(?:direct|frame|splash|(?:splash|overlay)-[1-9]\d{0,15})$/,
        'must be direct, frame or splash, or name a splash page (splash-7) or an overlay (overlay-7) of yours',
      ),
  )
const oneId = z.union([z.null(), z.literal('').transform(() => null), bodyId], 'must be an id')

const fields = {
  custom: alias,
  type,
  password: text(1024)
    .nullable()
    .transform((word) => word || null),
  expiry,
  title: orEmpty(text(255)),
  description: orEmpty(text(2000)),
  geotarget: targets('location'),
  devicetarget: targets('device'),
  languagetarget: targets('language'),
  metatitle: orEmpty(text(255)),
  metadescription: orEmpty(text(2000)),
  metaimage: orEmpty(url),
  parameters,
  domain: z.string(must('a text')).nullable(),
  pixels,
  campaign: oneId,
  channel: oneId,
}
/** Body of url/add and url/update. */
export const LinkBody = z.object({ url, ...z.object(fields).partial().shape })
export type LinkBody = z.output<typeof LinkBody>

/** Id of one's own branded domain by its address, with or without scheme; null: the service's own. */
const domainOf = (address: string, account: number, { baseUrl, domains }: Services) => {
  const host = address
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '')
    .toLowerCase()
  if (host === '' || host === new URL(baseUrl()).host) return null
  const found = domains.byHost(host)
  return found?.account === account ? found.id : fail(400, 'domain: there is no such domain in your account.')
}

const notOurs = (body: LinkBody, { isOurs }: Services) => {
  const addresses = {
    url: [body.url],
    geotarget: body.geotarget,
    devicetarget: body.devicetarget,
    languagetarget: body.languagetarget,
  }
  for (const [field, given] of Object.entries(addresses))
    for (const address of (given ?? []).map((entry) => (typeof entry === 'string' ? entry : entry.url)))
      if (isOurs(new URL(address).hostname))
        fail(400, `${field}: must not lead to one of this service's own addresses.`)
}

/** What a link names must be there, and its owner's own. */
const named = async (body: LinkBody, account: number, services: Services) => {
  const own = async <F, E extends DomainEvent>(
    field: string,
    decider: Decider<OwnedCommand<F>, Owned<F>, E>,
    id: number,
  ) => {
    await owns(decider, field, services, account, id).catch((error: unknown) => {
      throw error instanceof Refused ? new Failure(400, `${field}: there is no ${id} in your account.`) : error
    })
  }
  const [, kind, id] = /^(splash|overlay)-(\d+)$/.exec(body.type ?? '') ?? []
  await Promise.all([
    ...(body.pixels ?? []).map((pixelId) => own('pixels', pixel, pixelId)),
    body.campaign && own('campaign', campaign, body.campaign),
    body.channel && own('channel', channel, body.channel),
    kind === 'splash' && own('type', splash, Number(id)),
    kind === 'overlay' && own('type', overlay, Number(id)),
  ])
}

/** The fields that were sent, as the events name them; throws what is wrong with what they name. */
export const sentFields = async (body: LinkBody, account: number, services: Services): Promise<Partial<LinkFields>> => {
  notOurs(body, services)
  await named(body, account, services)
  const { custom, geotarget, devicetarget, languagetarget, domain, channel: _c, password: _p, ...same } = body
  const renamed = {
    ...same,
    alias: custom,
    location: geotarget,
    device: devicetarget,
    language: languagetarget,
    domain: domain === undefined ? undefined : domainOf(domain ?? '', account, services),
  }
  return Object.fromEntries(Object.entries(renamed).filter(([, value]) => value !== undefined))
}
