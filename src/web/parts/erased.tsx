import { t } from '../core/alltexts.ts'

/** Where a personal value was: it is gone, which is said, never left blank. */
export const Erased = () => (
  <span class="erased" title={t().history.erasedText}>
    {t().history.erased}
  </span>
)
