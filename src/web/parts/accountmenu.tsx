import { useEffect, useRef, useState } from 'preact/hooks'
import { chosen } from '../core/acting.ts'
import { href } from '../core/router.ts'
import { account, signOut } from '../core/session.ts'
import { loadTexts, t } from '../core/texts.ts'
import { sayProblem } from '../core/toasts.ts'
import { Icon } from './icon.tsx'

/** Closes a menu when the user presses Escape, or moves on. */
const useMenu = () => {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (event: Event) => {
      const open = menu.current
      if (!open?.open) return
      if (event instanceof KeyboardEvent ? event.key !== 'Escape' : open.contains(event.target as Node)) return
      open.open = false
      if (event instanceof KeyboardEvent) open.querySelector('summary')?.focus()
    }
    document.addEventListener('keydown', close)
    document.addEventListener('pointerdown', close)
    return () => {
      document.removeEventListener('keydown', close)
      document.removeEventListener('pointerdown', close)
    }
  }, [])
  return menu
}

/** Loads the list of accounts when the user may have several, or opens the menu. */
const loadAccounts = async () => (await Promise.all([import('../screens/accounts/switcher.tsx'), loadTexts()]))[0]
type Accounts = Awaited<ReturnType<typeof loadAccounts>>

/** The signed-in person, the accounts in which they may act, and the sign-out. */
export const AccountMenu = () => {
  const [accounts, setAccounts] = useState<Accounts | undefined>(undefined)
  const load = () =>
    void loadAccounts()
      .then((found) => setAccounts(found))
      .catch(() => {})
  useEffect(() => (chosen === undefined ? undefined : load()), [])
  const menu = useMenu()
  const texts = t()
  const who = account.value
  return (
    <>
      {accounts && chosen !== undefined && <accounts.Acting />}
      <details class="menu" ref={menu} onToggle={load}>
        <summary class="button plain only-icon" aria-label={`${texts.nav.account}: ${who?.email ?? ''}`}>
          <Icon name="person" />
        </summary>
        <div onClick={() => menu.current?.removeAttribute('open')}>
          <p class="who" dir="auto">
            {who?.email}
          </p>
          {accounts && <accounts.Memberships />}
          <a href={href('/account')}>{texts.nav.settings}</a>
          <a href="/docs" target="_blank" rel="noreferrer">
            {texts.nav.api}
          </a>
          <hr />
          <button type="button" onClick={() => void signOut().catch(sayProblem)}>
            <Icon name="out" />
            {texts.nav.signOut}
          </button>
        </div>
      </details>
    </>
  )
}
