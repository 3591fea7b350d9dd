import { z } from 'zod'
import { must, notStorable, orStop, says } from '../../lib/fields.ts'
import { isStorable } from '../../lib/storable.ts'
import { normalized } from '../../lib/strangers.ts'
import { listTags } from '../../queries/links/tag.ts'
import { list, listQuery, orderOf } from '../api/list/list.ts'
import { endpoint, type Route } from '../api/route.ts'
import { tagContract, tagNames } from './contract/tag.ts'

const [most, longest] = [20, 50]

/** The form in which tags are stored, shown and compared: `Spring  Sale` is `spring sale`. */
const normal = (tag: string) => normalized('tag', 'NFC', tag.trim().replaceAll(/\s+/g, ' '))?.toLowerCase()

/** Commas separate tags. Other characters that cannot be seen would make two tags look the same. */
const unfit = /[\p{Cc}\p{Cf}]/u
const oneTag = z
  .string(must('wrong_type', { what: 'string' }))
  .refine(isStorable, notStorable)
  .transform((given, context) => {
    const tag = normal(given)
    if (tag !== undefined && tag.length <= longest) return tag
    context.addIssue(says('too_long', { max: longest }))
    return z.NEVER
  })
  .refine((tag) => !unfit.test(tag), orStop(says('forbidden_characters', { what: 'invisible' })))
  .refine((tag) => !tag.includes(','), says('forbidden_characters', { what: 'comma' }))

const separate = (text: string) => text.split(',')
export const tagList = z
  .array(oneTag, must('wrong_type', { what: 'strings' }))
  .transform((given) => [...new Set(given.filter(Boolean))])

/** The tags of a link: an array, or a string with commas between them, as in a column of a table. */
export const tags = z
  .preprocess(
    (given) => (typeof given === 'string' ? separate(given) : given),
    tagList.refine((found) => found.length <= most, says('too_many', { max: most })).nullable(),
  )
  .transform((found) => found ?? [])

/** The tags that a list is filtered by, all of which a link must have. */
export const tagFilter = z
  .string()
  .transform(separate)
  .pipe(tagList)
  .refine((found) => found.length > 0, says('wrong_form', { what: 'tag' }))
  .optional()

export const tagRoutes = (): readonly Route[] => [
  endpoint(tagContract, 'GET /api/tags', {
    scope: 'read',
    query: listQuery(tagNames)
      .omit({ from: true, to: true })
      .extend({ order: orderOf('name') }),
    run: (call) =>
      list(
        tagNames,
        call,
        (request) => listTags(call.reader, call.account, request),
        (row) => row,
      ),
  }),
]
