import { t } from '../../core/alltexts.ts'
import { ClassBoard } from '../statistics/classes.tsx'
import { OperatorPage } from './page.tsx'

/** The classes of the visits of all accounts. */
export const OperatorClasses = () => (
  <OperatorPage>
    <p>{t().classes.lead}</p>
    <ClassBoard path="/api/operator/reclassify" />
  </OperatorPage>
)
