import { reports } from '../../../src/projections/operator/report.ts'
import { at } from '../../support/events.ts'
import { projectionSpec } from '../../support/given.ts'

const { given } = projectionSpec(reports)
const fields = { account: 1, kind: 'link', subject: 42, address: 'https://go.example.com/sale', reason: 'phishing' }
const written = { message: 'Look.', email: 'bea@example.com' }
const sent = (id: string) => ({ type: 'ReportSent', data: { id, ...fields, ...written } }) as const
const row = (id: string, position: bigint, over = {}) => ({
  id,
  ...fields,
  ...written,
  sent: at(Number(position)),
  closed: null,
  position,
  ...over,
})

describe('the table of reports', () => {
  it('has a row per report, with the time at which it was closed', () =>
    given(sent('aaaaaaaa'), sent('bbbbbbbb'), { type: 'ReportClosed', data: { id: 'aaaaaaaa' } }).thenRows(
      'reports',
      row('aaaaaaaa', 1n, { closed: at(3) }),
      row('bbbbbbbb', 2n),
    ))
  it('removes the text of a visitor when the report is erased', () =>
    given(sent('aaaaaaaa'), sent('bbbbbbbb'), { type: 'ReportErased', data: { id: 'aaaaaaaa' } }).thenRows(
      'reports',
      row('aaaaaaaa', 1n, { message: null, email: null, erased: at(3) }),
      row('bbbbbbbb', 2n),
    ))
  it('removes the texts of visitors when the account is erased', () =>
    given(sent('aaaaaaaa'), { type: 'AccountErased', data: { id: 1 } }).thenRows(
      'reports',
      row('aaaaaaaa', 1n, { message: null, email: null }),
    ))
})
