import { expect } from 'chai'
import { previewers } from '../../../src/clicks/visitor/previewers.ts'
import { readAgent } from '../../../src/clicks/visitor/agent.ts'
import { decideByWords } from '../../../src/clicks/visitor/words.ts'
import { previews } from '../../data/agents.ts'
import { agents } from '../../data/visitors.ts'

const again = (text: string) => {
  const { words, bot = null, class: found } = readAgent(text)
  return [decideByWords({ agent: words, bot, class: found }).class, found]
}

describe('classifying a click again by its words', () => {
  it('keeps the class of a person, a previewer or a bot under the same rules', () => {
    for (const text of [
      ...agents.slice(0, 3000),
      ...previews.map(([, preview]) => preview),
      'curl/8.1',
      'xh/0.1',
      '',
    ]) {
      const [now, before] = again(text)
      expect(now, text).to.equal(before)
    }
  })

  it('follows rules that have changed since', () => {
    const before = { agent: 'Mozilla compatible GPTBot', bot: null, class: 'human' }
    expect(decideByWords(before).class).to.equal('bot')
    expect(decideByWords({ agent: 'Mozilla X Friendly Firefox', bot: 'Friendly', class: 'bot' }).class).to.equal(
      'human',
    )
    expect(decideByWords({ agent: 'Mozilla X Slackbot-LinkExpanding', bot: null, class: 'human' }).class).to.equal(
      'preview',
    )
  })

  it('keeps the name of a previewer that the words alone do not show', () => {
    const [name] = previewers[0]!
    const click = { agent: 'Mozilla X Firefox', class: 'preview' }
    expect(decideByWords({ ...click, bot: name }).class).to.equal('preview')
    expect(decideByWords({ ...click, bot: 'Gone' }).class).to.equal('human')
    expect(decideByWords({ ...click, bot: name, class: 'human' }).class).to.equal('human')
  })

  it('keeps a bot that is named by more than its words', () => {
    const click = { agent: 'Mozilla X Firefox', class: 'bot' }
    for (const bot of [null, '', 'Absent']) expect(decideByWords({ ...click, bot }).class, String(bot)).to.equal('bot')
    expect(decideByWords({ ...click, bot: 'Firefox' }).class).to.equal('human')
    expect(decideByWords({ ...click, bot: null, class: 'human' }).class).to.equal('human')
  })

  it('keeps properties that the words do not show', () => {
    expect(decideByWords({ agent: 'Mozilla X Firefox', bot: '', class: 'bot' }).class).to.equal('bot')
    expect(decideByWords({ agent: 'Mozilla GPTBot', bot: 'GPTBot', class: 'prefetch' }).class).to.equal('prefetch')
    expect(decideByWords({ agent: '', bot: '', class: 'bot' }).class).to.equal('bot')
  })
})
