import { english, languages, type Texts } from '../texts/languages.ts'

export type MailName = keyof Texts['account']['mails']

/** What every mail says about its sender. */
export interface MailFoot {
  readonly host: string
  readonly operator: string
}

/**
 * Returns the subject and the text of a mail, in a language of ours. Mails are plain text: a link in them is what it
 * looks like.
 */
export const mailText = (name: MailName, lang: string, { host, operator }: MailFoot, line?: string) => {
  const { account, anatomy } = languages[lang] ?? english
  const { subject, text, note } = account.mails[name]
  const foot = `-- \n${host}\n${anatomy.servedBy.replace('#', () => operator)}`
  return {
    subject: `${subject} (${host})`,
    text: [text, ...(line === undefined ? [] : [line]), note, foot].join('\n\n'),
  }
}
