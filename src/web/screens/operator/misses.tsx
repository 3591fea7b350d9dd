import { MissListing } from '../links/misses.tsx'
import { OperatorPage } from './page.tsx'

/** What was asked for on the host of the service, where no account has it. */
export const OperatorMisses = () => (
  <OperatorPage>
    <MissListing path="/api/operator/misses" />
  </OperatorPage>
)
