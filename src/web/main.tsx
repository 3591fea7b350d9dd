import { render } from 'preact'
import { App } from './app.tsx'
import { startRouter } from './core/router.ts'
import { startSession } from './core/session.ts'
import { useLanguage } from './core/texts.ts'

const start = async () => {
  await useLanguage(document.documentElement.lang)
  startRouter()
  startSession()
  const root = document.getElementById('app')
  if (!root) return
  root.replaceChildren()
  render(<App />, root)
}

void start()
