import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { list } from 'isbot'
import { readAgent } from '../../../src/clicks/visitor/agent.ts'
import { browserNames, products } from '../../../src/clicks/visitor/browser.ts'
import { isLoadAhead } from '../../../src/clicks/visitor/loadahead.ts'
import { everyday, mistaken } from '../../../src/clicks/visitor/robots.ts'
import { decideByWords } from '../../../src/clicks/visitor/words.ts'

interface Line {
  readonly wanted: { readonly class: string; readonly browser: string; readonly os: string; readonly device: string }
  readonly headers: Readonly<Record<string, string>>
  readonly agent: string
  readonly of: string
}

const headersOf = (header: string): Readonly<Record<string, string>> => {
  const [, name, value = ''] = /^([^:]+): (.*)$/.exec(header) ?? []
  return name === undefined ? {} : { [name.toLowerCase()]: value }
}
const linesOf = (name: string): readonly Line[] =>
  readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => {
      const [kind = '', browser = '', os = '', device = '', header = '', agent = '', of = ''] = line.split('\t')
      return { wanted: { class: kind, browser, os, device }, headers: headersOf(header), agent, of }
    })

const named = linesOf('browsers.tsv')
const lines = [...linesOf('useragents.tsv'), ...named]

const classOf = ({ headers, agent }: Line) => (isLoadAhead(headers) ? 'prefetch' : readAgent(agent).class)
const show = (wrong: readonly string[]) => `\n${wrong.join('\n')}\n`
const isPerson = (name: string) => name === 'human'

describe('the user agents of a long list', () => {
  it('are at least 600, of each class', () => {
    expect(lines.length).to.be.at.least(600)
    const classes = new Set(lines.map(({ wanted }) => wanted.class))
    expect([...classes].toSorted()).to.deep.equal(['assistant', 'bot', 'human', 'prefetch', 'preview'])
  })

  it('get their class: no person is taken for a program, and no program for a person', () => {
    const wrong = lines.flatMap((line) => {
      const found = classOf(line)
      return found === line.wanted.class ? [] : [{ ...line, found }]
    })
    const told = (of: typeof wrong) => of.map(({ wanted, found, agent }) => `${wanted.class} → ${found}: ${agent}`)
    const lost = told(wrong.filter(({ wanted }) => isPerson(wanted.class)))
    const gained = told(wrong.filter(({ found }) => isPerson(found)))
    const among = told(wrong.filter(({ wanted, found }) => !isPerson(wanted.class) && !isPerson(found)))
    const report = [
      `people taken for programs: ${lost.length}`,
      ...lost,
      `programs taken for people: ${gained.length}`,
      ...gained,
      `programs of another class: ${among.length}`,
      ...among,
    ]
    expect(wrong.length, show(report)).to.equal(0)
  })

  it('name each browser that is corrected, in at least 120 lines of their own', () => {
    expect(named.length).to.be.at.least(120)
    const families = new Set(named.map(({ wanted }) => wanted.browser.replace(/ [\d.]+$/, '')))
    const missing = [...new Set(products.values())].filter((family) => !families.has(family))
    expect(missing).to.deep.equal([])
    expect([...families].filter((family) => ![...browserNames, 'Unknown Browser'].includes(family))).to.deep.equal([])
  })

  it('get the browser, system and device that they name', () => {
    const wrong = lines.flatMap(({ wanted, agent }) => {
      const { browser, os, device } = readAgent(agent)
      const found = {
        browser: `${browser.family} ${browser.version}`.trim(),
        os: `${os.family} ${os.version}`.trim(),
        device,
      }
      return (['browser', 'os', 'device'] as const).flatMap((name) =>
        wanted[name] === '-' || wanted[name] === found[name]
          ? []
          : [`${name} ${wanted[name]} → ${found[name]}: ${agent}`],
      )
    })
    expect(wrong.length, show(wrong)).to.equal(0)
  })

  it('keep their class when it is found again by the words that a click keeps', () => {
    const wrong = lines.flatMap((line) => {
      const { class: found, words, bot = null } = readAgent(line.agent)
      const again = decideByWords({ agent: words, bot, class: found }).class
      return again === found ? [] : [`${found} → ${again}: ${line.agent} (${words})`]
    })
    expect(wrong.length, show(wrong)).to.equal(0)
  })
})

describe('corrections of the list of robots', () => {
  it('are of patterns that the list has', () => {
    const gone = [...everyday, ...mistaken.keys()].filter((pattern) => !list.includes(pattern))
    expect(gone, 'gone from isbot: take them out').to.deep.equal([])
  })
})
