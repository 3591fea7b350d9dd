import { z } from 'zod'
import { conflictWays } from '../../imports/importing.ts'
import { formats } from '../../imports/records.ts'
import {
  type Answer,
  type AnswerOf,
  type Contract,
  count,
  done,
  listOf,
  pageFields,
  problemFields,
  success,
  text,
  time,
  type Whole,
} from '../api/contract.ts'

const id = text.meta({ examples: ['0b9f2f0e-5c1d-4a53-9d5f-3a4f6b1a6a34'] })
export const importStates = ['running', 'interrupted', 'failed', 'done', 'undoing', 'undone'] as const
const format = text.describe('of the file: `auto` until it is known').meta({ examples: ['kutt'] })

const row = z.object({
  id,
  format,
  date: time.describe('when it began'),
  finished: z.union([time, z.literal('')]).describe('empty until it is done'),
  undone: z.union([time, z.literal('')]).describe('when it was taken back; empty: it was not'),
  links: count.describe('that it has created'),
  member: z
    .int()
    .nullable()
    .describe('who has begun it, by the number of the member; null: the account’s own sign-in')
    .meta({ examples: [2] }),
})
export const imports = listOf('Import', 'imports', row, ['id'])
export type ImportList = Whole<typeof imports>

const outcomes = ['created', 'added', 'kept', 'renamed', 'conflict', 'skipped', 'failed', 'noted'] as const
const line = z.object({
  place: text.describe('the line of the file, or the id there').meta({ examples: ['line 12'] }),
  outcome: z.enum(outcomes),
  alias: text,
  url: text,
  message: text.describe('why, as sentences'),
  left: z.array(text).describe('fields that have no counterpart here, by their names there'),
})
export type ImportLine = Answer<typeof line>

const details = z.object({
  id,
  state: z
    .enum(['checking', 'checked', ...importStates])
    .describe('`interrupted`: `POST /api/import/:id/start` goes on with it'),
  format,
  name: text.describe('of the file').meta({ examples: ['links.json'] }),
  date: time,
  total: count.nullable().describe('lines that the report will have at least; null: not known yet'),
  done: count.describe('lines that it has'),
  created: count,
  existing: count.describe('links that had been there with the same destination'),
  renamed: count.describe('created with another alias'),
  conflicts: count.describe('left out, because their alias is not free'),
  skipped: count.describe('left out, because they had ended or were banned'),
  failed: count,
  kept: count.describe('that stayed when the import was taken back'),
  problem: z
    .object({ message: text, ...problemFields })
    .nullable()
    .describe('why it could not go on'),
  notes: z.array(line).describe('up to 100 lines that say something, first those of links that were not created'),
})

const accepted = success({ id, message: text })
const named = 'The file is the body, up to `IMPORT_MAX_MB` megabytes, also compressed with gzip.'

export const importContract = {
  'POST /api/import': {
    summary: 'Import links from another service',
    description: `${named} Its links are created in the background, oldest first; \`GET /api/import/:id\` says how far it is. An account imports one file at a time. What is imported again changes nothing: a link that has the same alias and destination already is counted as existing. The address of a link is the alias of the file on the service’s own host, or on the domain that \`domain\` names for its host there, or for all others.`,
    fields: {
      format: `what the file is: \`auto\`, ${formats.map((one) => `\`${one}\``).join(', ')}`,
      dryRun: '`true`: only say what would become of each link',
      conflict: `what to do when an alias is taken or not possible here: ${conflictWays.map((one) => `\`${one}\``).join(', ')}`,
      timezone: 'of times that have none',
      domain:
        'the branded domain here for each host there: `bit.ly=go.example.com,x.example=y.example`. A host alone, `go.example.com`, is the domain for all other addresses, also those without a host',
      columns: 'the columns of a CSV file that have other names: `url=Ziel,alias=Kurz`',
      name: 'of the file, for people',
    },
    body: z.unknown(),
    example: { data: [{ address: 'spring', target: 'https://example.com/spring', visit_count: 1200 }] },
    texts: {
      'text/csv': 'alias,url,title,created,clicks\nspring,https://example.com/spring,Spring,2023-05-01,1200\n',
      'application/octet-stream': 'alias,url\nspring,https://example.com/spring\n',
    },
    failures: { 409: { description: 'The account is importing another file.' } },
    answer: accepted,
  },
  'GET /api/imports': {
    summary: 'List what was imported',
    description: 'Newest first. A dry run is not in it.',
    fields: { ...pageFields, q: 'part of the format' },
    ...imports,
  },
  'GET /api/import/:id': {
    summary: 'Show how far an import is, and what has become of its links',
    answer: success({ details }),
  },
  'GET /api/import/:id/report': {
    summary: 'Download what has become of each link of an import',
    description:
      'CSV with `place`, `alias`, `url`, `outcome`, `message` and `left out`: the names of fields without a counterpart here.',
    answer: z.string(),
    answerType: 'text/csv',
  },
  'POST /api/import/:id/start': {
    summary: 'Import a file after its dry run, or go on with an import that was interrupted',
    failures: {
      409: { description: 'The account is importing another file, or the file is no longer there: send it again.' },
    },
    answer: accepted,
  },
  'DELETE /api/import/:id/delete': {
    summary: 'Take an import back',
    description:
      'Its links are deleted in the background, and what other services have counted of them. A link that was changed, visited or added to a channel since stays without these counts, unless `force` is sent.',
    fields: { force: '`true`: delete these, too' },
    failures: { 409: { description: 'The account is importing a file.' } },
    answer: done,
  },
} satisfies Contract
export type FoundImport = AnswerOf<typeof importContract, 'GET /api/import/:id'>
export type ImportAccepted = Answer<typeof accepted>
