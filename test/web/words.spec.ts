import { expect } from 'chai'
import { events } from '../../src/events/index.ts'
import { loadTexts, useLanguage } from '../../src/web/core/texts.ts'
import { whatHappened } from '../../src/web/screens/history/words.ts'

/** Events whose sentence says more than their type: from where a webhook continues, and why it was disabled. */
const saidByTheService = ['WebhookReplayed', 'WebhookPartReplayed', 'WebhookDisabled']
/** Events of the service, of clicks and of reports, which are in no history. */
const inNoHistory = [
  ...['LogOpened', 'ServiceKeyMarked', 'TablesRebuilt', 'SpoolImported', 'LogCopyStarted', 'SecretRotated'],
  'CheckpointCountRestarted',
  ...['NameClaimed', 'ClaimFenced', 'ClickLogOpened', 'LinkClicked', 'ClicksMissing', 'ClicksDropped', 'SpoolOpened'],
  ...['SpoolRetired', 'ReportSent', 'ReportClosed', 'ReportErased', 'EventParked'],
]

describe('the words of the history', () => {
  it('are there in each language for every event that an owner reads', async () => {
    for (const language of ['de', 'es', 'fr', 'en']) {
      await useLanguage(language)
      await loadTexts()
      const message = 'said in English'
      const unknown = Object.keys(events).filter(
        (type) => whatHappened({ type, resource: { type: 'url', id: 7 }, message }) === message,
      )
      expect(unknown.toSorted()).to.deep.equal([...saidByTheService, ...inNoHistory].toSorted())
    }
  })
})
