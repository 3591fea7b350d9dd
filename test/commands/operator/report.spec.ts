import { expect } from 'chai'
import { report, type ReportCommand } from '../../../src/commands/operator/report.ts'
import { spec } from '../../support/given.ts'

const { given } = spec(report)
const data = {
  id: '7kq2m9xd',
  account: 1,
  kind: 'link',
  subject: 42,
  address: 'https://go.example.com/sale',
  reason: 'phishing',
  message: 'It asks for my password.',
  email: 'bea@example.com',
} as const
const send: ReportCommand = { type: 'SendReport', ...data }
const sent = { type: 'ReportSent', data } as const
const closed = { type: 'ReportClosed', data: { id: data.id } } as const

describe('a report', () => {
  it('is recorded as it was sent', () => {
    expect(report.decide(send, report.initialState)).to.deep.equal([sent])
  })
  it('is refused under a reference that is in use', () => {
    given(sent).when(send).thenRefused('taken')
  })
  it('is closed once', () => {
    given(sent).when({ type: 'CloseReport', id: data.id }).thenEvents(closed)
    given(sent, closed).when({ type: 'CloseReport', id: data.id }).thenNothing()
    given(sent, closed).when(send).thenRefused('taken')
    given().when({ type: 'CloseReport', id: data.id }).thenRefused('not_found')
  })
  it('is erased once, which closes an open one', () => {
    const erase: ReportCommand = { type: 'EraseReport', id: data.id }
    const erased = { type: 'ReportErased', data: { id: data.id } } as const
    given(sent).when(erase).thenEvents(closed, erased)
    given(sent, closed).when(erase).thenEvents(erased)
    given(sent, closed, erased).when({ type: 'CloseReport', id: data.id }).thenNothing()
    given(sent, closed, erased).when(erase).thenRefused('not_found', 'report_text')
    given().when(erase).thenRefused('not_found', 'report_number')
  })
})
