import type { OverlayFields } from '../../../events/pages/overlay.ts'
import type { AnswerForm } from './signed.ts'
import { type Html, html } from '../page/html.ts'
import { counted, type Texts } from '../texts/languages.ts'

export type FieldName = keyof Texts['answer']['problems']
/** The types of overlays that have a form. */
export type FormType = keyof Texts['answer']['sent']

/** An answer that was not accepted: what was written, and what is wrong with it. */
export interface WrongAnswer {
  readonly values: Readonly<Partial<Record<FieldName, string>>>
  readonly problems: Readonly<Partial<Record<FieldName, 'wrong' | 'tooLong'>>>
}

const fieldsOf: Readonly<Record<FormType, readonly FieldName[]>> = {
  contact: ['name', 'email', 'message'],
  newsletter: ['email'],
  poll: ['choice'],
}

export const isFormType = (type: string): type is FormType => Object.hasOwn(fieldsOf, type)

/** What a field of the form shows of a wrong answer: its problem, above it, and the attributes that lead there. */
const stateOf = ({ answer }: Texts, type: FormType, { problems }: WrongAnswer) => {
  const first = fieldsOf[type].find((name) => problems[name])
  return (name: FieldName) => {
    const problem = problems[name]
    if (!problem) return { message: '', marks: '' }
    const text = problem === 'tooLong' ? answer.tooLong : answer.problems[name]
    const focus = name === first ? html` autofocus` : ''
    return {
      message: html`<p class="error" id="${name}-problem">${text}</p>`,
      marks: html` aria-invalid="true" aria-describedby="${name}-problem"${focus}`,
    }
  }
}

type State = ReturnType<typeof stateOf>

const emailField = ({ overlay }: Texts, state: State, { email = '' }: WrongAnswer['values']) => {
  const { message, marks } = state('email')
  return html`<div class="field">
    <label for="email">${overlay.fields.email}</label>${message}
    <input
      id="email"
      name="email"
      type="email"
      autocomplete="email"
      maxlength="255"
      required
      value="${email}"
      ${marks}
    />
  </div>`
}

const contactFields = (texts: Texts, state: State, values: WrongAnswer['values']) => {
  const { fields } = texts.overlay
  const [name, message] = [state('name'), state('message')]
  return html`<div class="field">
      <label for="name">${fields.name}</label>${name.message}
      <input
        id="name"
        name="name"
        autocomplete="name"
        maxlength="255"
        dir="auto"
        value="${values.name ?? ''}"
        ${name.marks}
      />
    </div>
    ${emailField(texts, state, values)}
    <div class="field">
      <label for="message">${fields.message}</label>${message.message}
      <textarea id="message" name="message" rows="2" maxlength="1000" dir="auto" required${message.marks}>
${values.message ?? ''}</textarea>
    </div>`
}

/** The marks of a wrong choice are at its first answer, which gets the focus, and thereby at the group. */
const pollFields = ({ question, options }: OverlayFields, state: State, { choice }: WrongAnswer['values']) => {
  const { message, marks } = state('choice')
  return html`<fieldset>
    <legend dir="auto" lang="">${question}</legend>
    ${message}
    ${options.map(
      (option, n) =>
        html`<label class="option"
          ><input
            type="radio"
            name="choice"
            value="${option}"
            required${option === choice ? html` checked` : ''}${n === 0 ? marks : ''}
          /><span dir="auto" lang="">${option}</span></label
        >`,
    )}
  </fieldset>`
}

const inputs = (texts: Texts, type: FormType, overlay: OverlayFields, wrong: WrongAnswer): Html => {
  const state = stateOf(texts, type, wrong)
  switch (type) {
    case 'contact':
      return contactFields(texts, state, wrong.values)
    case 'newsletter':
      return emailField(texts, state, wrong.values)
    case 'poll':
      return pollFields(overlay, state, wrong.values)
  }
}

const noAnswer: WrongAnswer = { values: {}, problems: {} }

/** Returns how many fields of a wrong answer have to be checked, in words. */
export const notSent = (texts: Texts, { problems }: WrongAnswer) =>
  `${texts.answer.notSent}. ${counted(texts, texts.answer.check, Object.keys(problems).length)}`

/**
 * Returns the form of an overlay; after a wrong answer with its values, a problem at each field, and the focus at the
 * first. Its field `website` is hidden from people; only programs fill it in.
 */
export const overlayForm = (
  texts: Texts,
  type: FormType,
  overlay: OverlayFields,
  { action, hidden }: AnswerForm,
  wrong?: WrongAnswer,
): Html =>
  html`<form method="post" action="${action}">
    ${wrong ? html`<p class="notice" role="alert">${notSent(texts, wrong)}</p>` : ''}
    ${inputs(texts, type, overlay, wrong ?? noAnswer)}
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <input class="trap" name="website" tabindex="-1" autocomplete="off" aria-hidden="true" />
    <button class="button go" dir="auto">${overlay.label || texts.overlay.actions[type]}</button>
    <p class="small">${texts.overlay.goesTo[type]}</p>
  </form>`
