import { z } from 'zod'

const webAddress = z
  .string()
  .max(2000, 'must have at most 2,000 characters')
  .regex(/^https?:\/\/[^\s/?#]+(?:[/?#]\S*)?$/i, 'must be a web address, for example https://example.com/privacy')

/** What the pages that visitors see say about the operator of the service. */
export const pageSettings = {
  OPERATOR_NAME: z
    .string()
    .max(100, 'must have at most 100 characters')
    .default('Linkledger')
    .describe('name of the person or the organization that runs this service, shown on every page'),
  OPERATOR_EMAIL: z
    .email('must be an e-mail address, for example help@example.com')
    .optional()
    .describe('e-mail address for questions of visitors, shown on every page'),
  SECURITY_CONTACT: z
    .string()
    .transform((text, context) => {
      if (z.email().safeParse(text).success) return `mailto:${text}`
      if (!/^https:\/\/[^\s/?#]+(?:[/?#]\S*)?$/i.test(text))
        context.addIssue('must be an e-mail address or an https address')
      return text
    })
    .optional()
    .describe('e-mail address or https address for reports of vulnerabilities: `/.well-known/security.txt` has it'),
  IMPRINT_URL: webAddress.optional().describe('address of the imprint, linked on every page'),
  PRIVACY_URL: webAddress.optional().describe('address of the privacy policy, linked on every page'),
  PIXEL_CONSENT: z
    .enum(['notice', 'ask'], 'must be notice or ask')
    .default('notice')
    .describe(
      '`notice`: pages say which networks measure a visit, and measure unless the visitor goes on without. `ask`: they never redirect by themselves, and measure only visitors who agree',
    ),
} as const
