import { useEffect, useState } from 'preact/hooks'
import { Shell } from './shell.tsx'
import { overlay } from './core/overlay.ts'
import { at, href } from './core/router.ts'
import { account, accountProblem, readAccount } from './core/session.ts'
import { t } from './core/texts.ts'
import { Button } from './parts/button.tsx'
import { NotFound } from './parts/section.tsx'
import { Failed, Notice } from './parts/states.tsx'
import { Toasts } from './parts/toasts.tsx'
import { routeAt, type Screen } from './routes.ts'
import { SignIn } from './screens/accounts/signin.tsx'

/** Screens that were shown before: they are there without a moment of nothing. */
const known = new Map<string, Screen>()

const Missing = () => (
  <NotFound title={t().errors.noScreen} text={t().errors.noScreenText} href={href('/')} name={t().nav.overview} />
)

/** The screen that the address names. */
const Current = () => {
  const route = routeAt(at.value.path)
  const [loaded, setLoaded] = useState<{ readonly path: string; readonly failed: boolean } | undefined>(undefined)
  useEffect(() => {
    if (!route || known.has(route.path)) return
    route.load().then(
      (screen) => {
        known.set(route.path, screen)
        setLoaded({ path: route.path, failed: false })
      },
      () => setLoaded({ path: route.path, failed: true }),
    )
  }, [route?.path])
  if (!route) return <Missing />
  const Found = known.get(route.path)
  if (Found) return <Found key={at.value.path} params={route.params} />
  if (loaded?.path === route.path && loaded.failed)
    // a newer version of the service has other files
    return (
      <Notice kind="bad" action={<Button onClick={() => location.reload()}>{t().actions.reload}</Button>}>
        {t().errors.newVersion}
      </Notice>
    )
  return null
}

export const App = () => {
  const who = account.value
  const problem = accountProblem.value
  return (
    <>
      {who === null ? (
        <SignIn />
      ) : (
        <Shell>{problem && !who ? <Failed error={problem} reload={() => void readAccount()} /> : <Current />}</Shell>
      )}
      {overlay.value}
      <Toasts />
    </>
  )
}
