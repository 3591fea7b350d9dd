import { VisitorClass } from '../../events/statistics/click.ts'
import { filterId } from '../api/fields.ts'
import { partIn } from '../api/limits/part.ts'
import { endpoint, type Route } from '../api/route.ts'
import { domainFilter } from '../links/filter.ts'
import { clickSource } from './source/clicks.ts'
import { namesOf, openStream, streamQuery, type StreamServices } from './stream.ts'
import { says } from '../../lib/fields.ts'
import { streamContract } from './contract.ts'

const classes = VisitorClass.options

export const clickRoutes = (services: StreamServices): readonly Route[] => [
  endpoint(streamContract, 'GET /api/clicks', {
    scope: 'read',
    limited: true,
    stream: true,
    nowOnly: 'stream',
    query: streamQuery.extend({
      made_by: filterId,
      class: namesOf(classes, says('not_one_of', { what: 'several', values: classes.join(', ') })),
    }),
    run: (call) => {
      const { account, query } = call
      const { link, campaign, channel, domain, tag, class: wanted } = query
      const onDomain = domainFilter(domain, account, services)
      const filter = {
        link,
        campaign,
        channel,
        domain: onDomain,
        tags: tag,
        part: partIn(call, query.made_by),
        classes: wanted,
      }
      return openStream(call, services, {
        index: 'clicks',
        formats: ['ndjson', 'sse', 'csv'],
        sourceOf: (options) => clickSource(options, filter, services.streams.clickBatches),
      })
    },
  }),
]
