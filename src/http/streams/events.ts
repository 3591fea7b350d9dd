import { events } from '../../events/index.ts'
import { endpoint, type Route } from '../api/route.ts'
import { domainFilter } from '../links/filter.ts'
import { eventSource } from './source/events.ts'
import { namesOf, openStream, streamQuery, type StreamServices } from './stream.ts'
import { says } from '../../lib/fields.ts'
import { streamContract } from './contract.ts'

export const eventRoutes = (services: StreamServices): readonly Route[] => [
  endpoint(streamContract, 'GET /api/events', {
    scope: 'read',
    stream: true,
    nowOnly: 'stream',
    query: streamQuery.extend({
      type: namesOf(Object.keys(events), says('not_one_of', { what: 'event_types' })),
    }),
    run: (call) => {
      const { account, query, may } = call
      const { link, campaign, channel, domain, tag, type } = query
      const onDomain = domainFilter(domain, account, services)
      const filter = { link, campaign, channel, domain: onDomain, tags: tag, types: type, ofAccount: may('account') }
      // events of the account end with the right to read them
      const isAdmitted = () => call.isAdmitted(filter.ofAccount ? 'account' : undefined)
      return openStream({ ...call, isAdmitted }, services, {
        index: 'events',
        formats: ['ndjson', 'sse'],
        sourceOf: (options) => eventSource(options, filter, services.streams.readStream),
      })
    },
  }),
]
