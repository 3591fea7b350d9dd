import { Undeliverable } from '../jobs/mail/mail.ts'
import type { WrittenMail } from '../../security/outbox.ts'

interface SmtpError {
  readonly code?: unknown
  readonly command?: unknown
  readonly responseCode?: unknown
}

/** Returns what a log may have of an error: its message can contain the recipient and what was sent. */
export const describeSmtpError = (error: unknown) => {
  const { code, command, responseCode } = error as SmtpError
  return { name: (error as Error).name, code, command, responseCode }
}

const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, dnsTimeout: 10_000, socketTimeout: 20_000 }

/**
 * Mails have links in them, so a server that is not on this machine must encrypt the connection, unless SMTP_URL says
 * otherwise.
 */
const withTls = (address: string) => {
  const url = new URL(address)
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  const isSet = ['requireTLS', 'ignoreTLS'].some((name) => url.searchParams.has(name))
  if (url.protocol === 'smtp:' && !isLocal && !isSet) url.searchParams.set('requireTLS', 'true')
  return url.href
}

/** Opens the mail server of SMTP_URL. Each mail has a connection of its own; nothing is sent before the first one. */
export const openSmtp = (url: string, from: string, host: string) => {
  const address = withTls(url)
  // it is loaded for the first mail
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport({ url: address, disableFileAccess: true, disableUrlAccess: true, ...timeouts })
  }
  let transport: ReturnType<typeof open> | undefined
  return {
    /** A mail that is sent twice has the same Message-ID. */
    send: async ({ id, to, subject, text }: WrittenMail): Promise<void> => {
      try {
        const opened = await (transport ??= open())
        await opened.sendMail({
          from,
          to: { name: '', address: to },
          subject,
          text,
          messageId: `<${id}@${host}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
      } catch (error) {
        const { command, responseCode } = error as SmtpError
        if (command === 'RCPT TO' && Number(responseCode) >= 500)
          throw Object.assign(new Undeliverable('the mail server has refused the recipient'), { responseCode })
        throw error
      }
    },
    close: () => void transport?.then((opened) => opened.close()),
  }
}
