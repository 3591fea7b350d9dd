import { t } from '../core/alltexts.ts'
import { Button, CopyButton } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Notice } from './states.tsx'

interface SecretProps {
  readonly title: string
  readonly secret: string
  readonly text: string
  readonly onClose: () => void
}

/**
 * A secret that is shown once: the window stays until the user confirms that they have kept it. The page has it nowhere
 * else.
 */
export const Secret = ({ title, secret, text, onClose }: SecretProps) => (
  <Dialog title={title} firm onClose={onClose}>
    <div class="body">
      <Notice kind="warn">{text}</Notice>
      <div class="secret">
        <code class="mono">{secret}</code>
        <CopyButton text={secret} label={t().resources.copySecret} quiet />
      </div>
    </div>
    <footer>
      <Button kind="primary" onClick={onClose}>
        {t().account.haveCodes}
      </Button>
    </footer>
  </Dialog>
)
