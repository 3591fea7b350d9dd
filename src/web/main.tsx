import { render } from 'preact'
import { App } from './app.tsx'
import { confirmWith } from './core/api.ts'
import { startRouter } from './core/router.ts'
import { startSession } from './core/session.ts'
import { lang, useLanguage } from './core/texts.ts'

const start = async () => {
  const page = document.documentElement
  await useLanguage(page.lang)
  page.lang = lang.value
  confirmWith(async () => (await import('./screens/accounts/confirm.tsx')).confirmPassword())
  startRouter()
  startSession()
  const root = document.getElementById('app')
  if (!root) return
  root.replaceChildren()
  render(<App />, root)
}

void start()
