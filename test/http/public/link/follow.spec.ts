import { expect } from 'chai'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openBlocks } from '../../../../src/cache/blocks.ts'
import { openClickCounts } from '../../../../src/cache/clickcounts.ts'
import { createFollow, type FollowOptions } from '../../../../src/http/public/link/follow.ts'
import { isUnavailable } from '../../../../src/lib/unavailable.ts'
import type { WritePage } from '../../../../src/http/public/page/page.ts'
import type { Target } from '../../../../src/queries/links/target.ts'
import { englishView } from '../../../support/pages.ts'
import { numbersOf, smallDisk, useSpoolFolder } from '../../../clicks/spool/harness.ts'

describe('a link with max_clicks', () => {
  const { open, readOut } = useSpoolFolder()

  const target = (max_clicks: number | null, revision: number) =>
    ({
      ...{ link: revision, account: 1, revision, url: 'https://example.com/', type: 'direct', domain: null },
      ...{ password: null, expiry: null, starts: null, expired_url: '', forward: false, max_clicks },
      ...{ location: [], device: [], browser: [], language: [], parameters: [], variants: [], pixels: [] },
    }) as unknown as Target

  /** Returns the status that a visitor of a link gets: 410 is the page of a link that has ended. */
  const visitWith = (recordVisit: FollowOptions['recordVisit']) => {
    const { follow } = createFollow({
      recordVisit,
      clickCounts: openClickCounts({ find: async (links) => links.map(() => ({ clicks: 0, position: 0n })) }),
      blocks: openBlocks(),
      trustProxy: 0,
      isOurHost: () => false,
      siteOf: () => undefined,
      missed: { link: () => {}, head: () => {} },
      now: () => Date.now(),
      sendPage: (_req: IncomingMessage, res: ServerResponse, page: WritePage) =>
        void (res.statusCode = page(englishView).status),
      notCounted: () => {},
    } as unknown as FollowOptions)
    return async (link: Target, { method = 'GET', ...headers }: Readonly<Record<string, string>> = {}) => {
      const req = Object.assign(new IncomingMessage(new Socket()), { method, url: '/a' })
      Object.assign(req.headers, {
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0',
        ...headers,
      })
      const res = new ServerResponse(req)
      try {
        await follow(req, res, link, { kind: 'link', id: link.link })
        return res.statusCode
      } catch (error) {
        return isUnavailable(error) ? 503 : error
      }
    }
  }

  it('redirects no visitor whose visit is not on the disk, and uses up no click: it is unavailable until there is room', async () => {
    const full = smallDisk()
    const killed = await open({ io: full.io, backlogVisits: 3, retryMs: 1 })
    const visit = visitWith(killed.add)
    const [once, twice, often, endless] = [target(1, 1), target(2, 2), target(1001, 3), target(null, 4)]
    expect(await visit(twice)).to.equal(302)
    full.room = 0
    const all = await Promise.all([visit(once), visit(once), visit(twice), visit(often), visit(endless)])
    expect(all[0], 'the first person').to.equal(503)
    expect(all.slice(2), 'a link of many clicks, and one that does not end').to.deep.equal([503, 302, 302])
    for (const _ of [1, 2, 3]) {
      expect(await visit(once), 'with a full backlog, too').to.equal(503)
      expect(await visit(endless)).to.equal(302)
    }
    full.room = Infinity
    while ((await visit(once)) === 503) await pause(1)
    expect([await visit(once), await visit(twice), await visit(twice)]).to.deep.equal([410, 302, 410])
    await killed.close()
    const visits = numbersOf(await readOut())
    expect(
      [1, 2].map((link) => visits.filter((one) => one === link).length),
      'of what is kept',
    ).to.deep.equal([1, 2])
  })

  it('shows its destination only to people, whom it counts', async () => {
    const visit = visitWith(async () => true)
    const programs = [
      { method: 'HEAD' },
      { 'user-agent': 'Googlebot/2.1' },
      { 'user-agent': 'facebookexternalhit/1.1' },
      { 'user-agent': 'Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)' },
    ]
    const ahead = [{ 'sec-purpose': 'prefetch' }, { purpose: 'prefetch' }, { 'x-moz': 'prefetch' }]
    const once = target(1, 1)
    for (const headers of programs) expect(await visit(once, headers), JSON.stringify(headers)).to.equal(200)
    for (const headers of ahead) expect(await visit(once, headers), JSON.stringify(headers)).to.equal(503)
    expect([await visit(once), await visit(once)]).to.deep.equal([302, 410])
    for (const link of [target(1001, 3), target(null, 4)])
      for (const headers of [...programs, ...ahead]) expect(await visit(link, headers)).to.equal(302)
  })
})
