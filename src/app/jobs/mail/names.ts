/** Notices of an event, which are sent regardless of later events. */
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
