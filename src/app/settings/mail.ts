import { z } from 'zod'

const address = /^[^\s<>@,;]+@[^\s<>@,;]+$/
const named = /^[^<>\r\n]*<([^\s<>@,;]+@[^\s<>@,;]+)>$/

/** Reads whether a text is an address, with or without a name. */
const isSender = (text: string) => address.test(text) || named.test(text)

const isServer = (text: string) => {
  try {
    const { protocol, hostname, username, password } = new URL(text)
    decodeURIComponent(username + password)
    return /^smtps?:$/.test(protocol) && hostname !== ''
  } catch {
    return false
  }
}

/** Returns the settings that mails need and do not have, with what is wrong. */
export const missingMailSettings = ({
  SMTP_URL,
  SMTP_FROM,
  BASE_URL,
}: {
  readonly SMTP_URL?: string | undefined
  readonly SMTP_FROM?: string | undefined
  readonly BASE_URL?: string | undefined
}): readonly (readonly [name: string, message: string])[] => {
  if (SMTP_URL === undefined) return []
  return [
    ...(SMTP_FROM === undefined ? [['SMTP_FROM', 'must be set with SMTP_URL: mails need a sender'] as const] : []),
    ...(BASE_URL === undefined ? [['BASE_URL', 'must be set with SMTP_URL: mails link to it'] as const] : []),
  ]
}

/** Mails to the owners of accounts. */
export const mailSettings = {
  SMTP_URL: z
    .string()
    .refine(isServer, 'must be an address like smtp://user:password@mail.example.com:587 or smtps://mail.example.com')
    .optional()
    .describe(
      'mail server: `smtp://user:password@mail.example.com:587`, or `smtps://` for TLS from the first byte. With it, e-mail addresses are confirmed and passwords can be reset; without it, no mail is sent',
    ),
  SMTP_FROM: z
    .string()
    .max(320, 'must have at most 320 characters')
    .refine(isSender, 'must be an e-mail address, for example Short links <links@example.com>')
    .optional()
    .describe('sender of mails, for example `Short links <links@example.com>`'),
} as const
