import { z } from 'zod'
import type { AndroidApps, AppleApps } from '../../events/domains/domain.ts'
import { must, orStop, says, text } from '../../lib/fields.ts'
import { flag, orInitial } from '../api/fields.ts'

/** Apple reads no larger file (128 KB). */
const mostBytes = 128 * 1024

/** An object that refuses unknown names: an app would open addresses that it should leave alone. */
const strict = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, {
    error: ({ code, keys, input }) => {
      if (code === 'unrecognized_keys') {
        const [name = ''] = keys as readonly string[]
        return says('not_supported', { what: 'key', name, values: Object.keys(shape).join(', ') })
      }
      return input === undefined ? says('required') : says('wrong_type', { what: 'json' })
    },
  })
const list = <T extends z.ZodType>(entry: T, max: number, what: 'objects' | 'strings' = 'strings') =>
  z
    .array(entry, must('wrong_type', { what }))
    .min(1, orStop(says('too_few', { what: 'one' })))
    .max(max, says('too_many', { max }))

const pattern = text(512).refine(
  (given) => /^[^\p{Cc}\p{Z}]+$/u.test(given),
  orStop(says('forbidden_characters', { what: 'whitespace' })),
)
const path = pattern.refine((given) => /^[/*]/.test(given), says('wrong_form', { what: 'path_pattern' }))
const byName = z.record(pattern, text(512))
const common = {
  '/': path.optional(),
  '#': pattern.optional(),
  exclude: flag.optional(),
  comment: text(255).optional(),
}
const parts = ['/', '?', '#']
const isSomething = (component: object) => parts.some((part) => part in component)
const nothing = says('too_few', { what: 'one_of', values: parts.join(' ') })
/** The API reference names none of their fields: `/` is no valid name in the languages of its clients. */
const component = <T extends z.ZodType>(schema: T) =>
  z.unknown().meta({ type: 'object', additionalProperties: {} }).pipe(schema)
/** In the order in which systems try them. */
const components = {
  apple: list(
    component(
      strict({
        ...common,
        '?': z.union([pattern, byName]).optional(),
        caseSensitive: flag.optional(),
        percentEncoded: flag.optional(),
      }).refine(isSomething, nothing),
    ),
    100,
    'objects',
  ),
  android: list(component(strict({ ...common, '?': byName.optional() }).refine(isSomething, nothing)), 100, 'objects'),
}

const appId = text(170).regex(/^[A-Z\d]{10}\.[A-Za-z\d.-]+$/, says('wrong_form', { what: 'app_id' }))
const packageName = text(255).regex(/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/, says('wrong_form', { what: 'package' }))
const fingerprint = text(95)
  .regex(/^(?:[\da-f]{2}:){31}[\da-f]{2}$/i, says('wrong_form', { what: 'fingerprint' }))
  .transform((given) => given.toUpperCase())

const isServable = (file: unknown) => Buffer.byteLength(JSON.stringify(file)) <= mostBytes
const tooLarge = says('too_long', { what: 'bytes', max: mostBytes })

/** The apps of Apple's systems that open addresses of a domain; `` and null mean none. */
export const apple = orInitial(
  strict({
    details: z
      .array(strict({ appIDs: list(appId, 20), components: components.apple }), must('wrong_type', { what: 'objects' }))
      .max(20, says('too_many', { max: 20 })),
  }).refine((given) => isServable(appleFile(given)), tooLarge),
  { details: [] },
)

/** The same for Android. */
export const android = orInitial(
  z
    .array(
      strict({
        package_name: packageName,
        sha256_cert_fingerprints: list(fingerprint, 20),
        components: components.android.optional(),
      }),
      must('wrong_type', { what: 'objects' }),
    )
    .max(20, orStop(says('too_many', { max: 20 })))
    .refine((given) => isServable(androidFile(given)), tooLarge),
  [],
)

/** Returns the content of `/.well-known/apple-app-site-association`. */
export const appleFile = ({ details }: AppleApps) => ({ applinks: { details } })

const relation = 'delegate_permission/common.handle_all_urls'
/** Returns the content of `/.well-known/assetlinks.json`. */
export const androidFile = (apps: AndroidApps) =>
  apps.map(({ components: links, ...target }) => ({
    relation: [relation],
    target: { namespace: 'android_app', ...target },
    ...(links && { relation_extensions: { [relation]: { dynamic_app_link_components: links } } }),
  }))
