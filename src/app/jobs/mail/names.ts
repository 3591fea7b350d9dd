/** Notices of an event, whatever came after it. */
export const told = {
  secondFactorReplaced: 'SecondFactorAdded',
  passkeyAdded: 'PasskeyAdded',
  passkeyRemoved: 'PasskeyRemoved',
} as const

/** Names a text of a mail. */
export type TextName =
  | (
      | 'register'
      | 'taken'
      | 'email'
      | 'reset'
      | 'invitation'
      | 'emailChanged'
      | 'passwordChanged'
      | 'erasure'
      | 'webhookDisabled'
    )
  | ('keyAdded' | 'keyWidened' | 'webhookAdded' | 'webhookMoved' | 'secondFactorRemoved' | 'newBrowser')
  | keyof typeof told
