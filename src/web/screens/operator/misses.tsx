import { MissListing } from '../links/misses.tsx'
import { OperatorPage } from './page.tsx'

/** Requested addresses on the host of the service that belong to no account. */
export const OperatorMisses = () => (
  <OperatorPage>
    <MissListing path="/api/operator/misses" />
  </OperatorPage>
)
