import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { type Answer, until } from '../../../support/client.ts'
import { openStage } from '../../../support/faults.ts'
import { long, message, useInterstitials } from '../../../support/interstitials.ts'

describe('an interstitial that its owner changes', () => {
  const { app, key, create, add, visit } = useInterstitials()
  /** another process on the same database */
  let other: TestApp
  before(async () => {
    other = await startTestApp({ TRUST_PROXY: '1' }, app().connection)
  })
  const stage = openStage()
  after(async () => {
    await stage.clear()
    await other.close()
  })

  let n = 0
  const soon = async (path: string, matches: (answer: Answer) => boolean, what: string) => {
    for (const at of [app(), other]) {
      const answer = await until(() => visit(path, {}, at), matches)
      expect(matches(answer), `${what}: ${answer.text.slice(-800)}`).to.equal(true)
    }
  }
  const says = (text: string) => (answer: Answer) => answer.text.includes(text)
  const redirects = ({ status }: Answer) => status === 302

  const changes = async () => {
    const splash = await create('splash', { name: 's', title: 'Before-s' })
    const overlay = await create('overlay', { ...message, message: 'Before-o' })
    const pixel = await create('pixel', { type: 'bing', name: 'p', tag: 'Before-p' })
    const links = [{ type: `splash-${splash}` }, { type: `overlay-${overlay}` }, { pixels: [pixel] }]
    const [s, o, p] = await Promise.all(links.map(async (body) => (await add(body)).path))
    const put = (path: string, body: object) => app().put(path, { key: key(), body })
    const steps: [string, () => Promise<Answer>, (answer: Answer) => boolean][] = [
      [s!, () => put(`/api/splash/${splash}/update`, { title: 'After-s' }), says('After-s')],
      [o!, () => put(`/api/overlay/${overlay}/update`, { message: 'After-o' }), says('After-o')],
      [p!, () => put(`/api/pixel/${pixel}/update`, { tag: 'After-p' }), says('After-p')],
      [s!, () => app().del(`/api/splash/${splash}/delete`, { key: key() }), redirects],
      [o!, () => app().del(`/api/overlay/${overlay}/delete`, { key: key() }), redirects],
      [p!, () => app().del(`/api/pixel/${pixel}/delete`, { key: key() }), redirects],
    ]
    for (const [path, what] of [
      [s!, 'Before-s'],
      [o!, 'Before-o'],
      [p!, 'Before-p'],
    ] as const)
      await soon(path, says(what), what)
    return steps
  }

  it('is up to date in every process', async () => {
    for (const [path, change, matches] of await changes()) {
      expect((await change()).status).to.equal(200)
      expect(matches(await visit(path)), 'where it was written').to.equal(true)
      await soon(path, matches, path)
    }
  })

  it('is up to date while the tables are behind, also on a link created meanwhile', async () => {
    const steps = await changes()
    const splash = await create('splash', { name: 's', title: 'Standing-s' })
    const overlay = await create('overlay', { ...message, message: 'Standing-o' })
    const pixel = await create('pixel', { type: 'bing', name: 'p', tag: 'Standing-p' })
    const holder = await stage.connect(app().connection)
    await holder.query('begin; select * from read.checkpoints for update')
    const writes: Promise<Answer>[] = []
    for (const [path, change, matches] of steps) {
      writes.push(change())
      await soon(path, matches, path)
    }
    for (const [body, text] of [
      [{ type: `splash-${splash}` }, 'Standing-s'],
      [{ type: `overlay-${overlay}` }, 'Standing-o'],
      [{ pixels: [pixel] }, 'Standing-p'],
      [{ type: 'frame', title: 'Standing-f' }, 'Standing-f'],
    ] as const) {
      const custom = `late-${++n}`
      writes.push(app().post('/api/url/add', { key: key(), body: { url: long, custom, ...body } }))
      await soon(`/${custom}`, says(text), text)
    }
    for (const { status, headers } of await Promise.all(writes))
      expect([status, headers.get('X-Projection-Pending')]).to.deep.equal([200, '1'])
    await holder.query('rollback')
    for (const [path, , matches] of steps.slice(3)) await soon(path, matches, path)
  })
})
