import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { html } from '../../../../src/http/public/page/html.ts'
import { renderPage, type WritePage } from '../../../../src/http/public/page/page.ts'
import { homePage, pages } from '../../../../src/http/public/page/messages.ts'
import { baseStyle } from '../../../../src/http/public/styles/base.ts'
import { readableOn } from '../../../../src/http/public/styles/owner.ts'
import { counted, dayIn, languages, textsFor, timeIn } from '../../../../src/http/public/texts/languages.ts'
import { contrast } from '../../../../src/qr/color.ts'
import { englishView, every, shown } from '../../../support/pages.ts'

const operator = {
  name: 'A & B',
  email: 'help@example.com',
  imprint: 'https://example.com/i',
  privacy: 'https://x.example',
}
const viewIn = (language: string) => ({ ...englishView, operator, texts: languages[language]! })
const rendered = (write: WritePage, language = 'en') => renderPage(write(viewIn(language)), viewIn(language))
const request = (language: string) => ({ headers: { 'accept-language': language } }) as Parameters<typeof textsFor>[0]

describe('public pages', () => {
  it('are at most 8 KB compressed, in every language, and say their language', () => {
    for (const language of Object.keys(languages))
      for (const [name, write] of Object.entries(every)) {
        const page = rendered(write, language)
        expect(gzipSync(page).length, `${name} ${language}`).to.be.below(8192)
        expect(page, name).to.include(`<html lang="${language}">`)
      }
  })

  it('never redirect without script, name the operator, and have each link of the settings', () => {
    for (const [name, write] of Object.entries(every)) {
      const page = rendered(write)
      expect(page, name).not.to.match(/http-equiv/i)
      expect(page, name).to.include('<b>A &amp; B</b>').and.include('href="mailto:help@example.com"')
      expect(page, name).to.include('href="https://example.com/i"').and.include('href="https://x.example"')
    }
    const atRoot = { ...englishView, address: englishView.host }
    expect(renderPage(homePage(atRoot), atRoot)).not.to.match(/<nav|href=/)
  })

  it('are in the first language of the visitor that we have, and in English otherwise', () => {
    const chosen = (languages: string) => textsFor(request(languages)).lang
    expect(['de', 'de-AT, en;q=0.5', 'fr-CA', 'es-419,es', 'it, fr;q=0.4', 'en-US'].map(chosen)).to.deep.equal(
      'de de fr es fr en'.split(' '),
    )
    expect(['', 'ja', '*', 'de;q=0', '__proto__', 'q=;,,'].map(chosen)).to.deep.equal(
      Array.from({ length: 6 }, () => 'en'),
    )
  })

  it('have a text for each place in every language, around the same values', () => {
    const places = (texts: object, path = ''): string[] =>
      Object.entries(texts).flatMap(([name, text]: [string, unknown]) =>
        typeof text === 'object' && text !== null
          ? places(text, `${path}.${name}`)
          : `${path}.${name} ${String(text).split('#').length - 1}`,
      )
    // a language may have no number in its singular: "in the next minute"
    const of = (language: string) => places(languages[language]!).filter((place) => !/\.one \d$/.test(place))
    for (const language of Object.keys(languages)) expect(of(language), language).to.have.members(of('en'))
  })

  it('count, and write dates and times, as each language does', () => {
    const day = new Date('2026-10-31T18:05:00Z')
    const words = Object.values(languages).map((texts) => [
      counted(texts, texts.redirecting.timeLeft, 1),
      counted(texts, texts.redirecting.timeLeft, 5),
      dayIn(texts, day),
      timeIn(texts, day),
    ])
    expect(words).to.deep.equal([
      ['In 1 second', 'In 5 seconds', '31 October 2026', '18:05 UTC'],
      ['In 1 Sekunde', 'In 5 Sekunden', '31. Oktober 2026', '18:05 UTC'],
      ['Dans 1 seconde', 'Dans 5 secondes', '31 octobre 2026', '18:05 UTC'],
      ['En 1 segundo', 'En 5 segundos', '31 de octubre de 2026', '18:05 UTC'],
    ])
  })

  it('show where a link leads, with the registered domain in bold', () => {
    const host = (to: string) => /<bdi dir="ltr"\s*>.*?<\/bdi\s*>/.exec(rendered(shown('pixels', to)))?.[0]
    const bold = (before: string, domain: string) => `<bdi dir="ltr">${before}<b>${domain}</b></bdi>`
    expect(host('https://paypal.com.login.example.co.uk/')).to.equal(bold('paypal.com.login.', 'example.co.uk'))
    expect(host('https://mine.github.io:8443/')).to.equal(bold('', 'mine.github.io:8443'))
    expect(host('https://intranet/')).to.equal(bold('', 'intranet'))
    expect(host('https://192.0.2.1/')).to.equal(bold('', '192.0.2.1'))
    // Cyrillic letters that look like Latin ones
    expect(host('https://аррӏе.com/')).to.equal(bold('', 'xn--80ak6aa92e.com'))
  })

  it('say that a destination is not encrypted, and shorten a long path', () => {
    expect(rendered(shown('pixels', 'http://example.com/'))).to.include('not encrypted')
    const page = rendered(shown('pixels'))
    expect(page).not.to.include('not encrypted')
    expect(page).to.include('/tours/2027/…/booking<')
  })

  it('escape repeated input', () => {
    const view = { ...englishView, host: '<b>', address: '<b>/x' }
    expect(renderPage(pages.notFound(view), view)).not.to.include('<b>/')
    expect(html`${'<'}`.text).to.equal('&lt;')
  })
})

describe('colors of public pages', () => {
  const schemes = () => {
    const [light = '', dark = ''] = baseStyle.text.split('prefers-color-scheme')
    const colorsIn = (text: string) =>
      Object.fromEntries(
        [...text.matchAll(/--([\w-]+):(#[\da-f]+)\b/g)].map(([, name = '', value = '']) => [name, value]),
      )
    const long = (color: string) => (color.length === 4 ? color.replaceAll(/[\da-f]/g, '$&$&') : color)
    return [colorsIn(light), { ...colorsIn(light), ...colorsIn(dark) }].map(
      (colors) => (name: string) => long(colors[name]!),
    )
  }

  it('have a focus ring and a field border of at least 3:1, in light and in dark', () => {
    for (const color of schemes())
      for (const background of ['paper', 'surface'])
        for (const edge of ['focus', 'line-strong', 'danger', 'accent'])
          expect(contrast(color(edge), color(background)), `${edge} on ${background}`).to.be.at.least(3)
  })

  it('have text of at least 4.5:1, in light and in dark', () => {
    for (const color of schemes()) {
      for (const [
        text,
        background,
      ] of 'ink paper,ink-2 paper,danger paper,ink surface,ink-2 surface,accent-ink accent,danger danger-soft'
        .split(',')
        .map((pair) => pair.split(' ')))
        expect(contrast(color(text!), color(background!)), `${text} on ${background}`).to.be.at.least(4.5)
    }
  })

  it("have buttons in an owner's color with white or black, whichever is at least 4.58:1", () => {
    const steps = Array.from({ length: 18 }, (_, i) => (i * 15).toString(16).padStart(2, '0'))
    const worst = steps.flatMap((r) =>
      steps.flatMap((g) => steps.map((b) => contrast(`#${r}${g}${b}`, readableOn(`#${r}${g}${b}`)))),
    )
    expect(Math.min(...worst)).to.be.at.least(4.58)
  })
})
