import { t } from '../core/texts.ts'
import { Dialog } from './dialog.tsx'

/** The keys that do something on every screen. */
export const Help = ({ onClose }: { readonly onClose: () => void }) => {
  const { help } = t()
  const keys = [
    ['C', help.create],
    ['/', help.search],
    ['?', help.help],
    ['Esc', help.close],
    ['← →', help.chart],
  ] as const
  return (
    <Dialog title={help.title} onClose={onClose}>
      <div class="body">
        <dl class="keys">
          {keys.map(([key, text]) => (
            <>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{text}</dd>
            </>
          ))}
        </dl>
      </div>
    </Dialog>
  )
}
