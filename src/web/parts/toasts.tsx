import { t } from '../core/texts.ts'
import { closeToast, toasts } from '../core/toasts.ts'
import { IconButton } from './button.tsx'

/** Messages at the foot of the page. The element is always there: a screen reader only notices what changes in it. */
export const Toasts = () => (
  <div aria-live="polite">
    {toasts.value.map(({ id, text, failed, action }) => (
      <div key={id} class="toast" role={failed ? 'alert' : undefined}>
        <span dir="auto">{text}</span>
        {action && (
          <button
            class="button"
            type="button"
            onClick={() => {
              closeToast(id)
              action.run()
            }}
          >
            {action.label}
          </button>
        )}
        {failed && <IconButton label={t().actions.close} icon="close" onClick={() => closeToast(id)} />}
      </div>
    ))}
  </div>
)
