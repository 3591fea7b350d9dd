import { useEffect, useState } from 'preact/hooks'
import { Shell } from './shell.tsx'
import { overlay } from './core/overlay.ts'
import { at, href, type ScreenProps } from './core/router.ts'
import { account, accountProblem, readAccount } from './core/session.ts'
import { t } from './core/texts.ts'
import { Button } from './parts/button.tsx'
import { NotFound } from './parts/section.tsx'
import { Failed, Notice } from './parts/states.tsx'
import { Toasts } from './parts/toasts.tsx'
import { routeAt, type Screen } from './routes.ts'

/** Screens that were shown before: they are there without a moment of nothing. */
const known = new Map<string, Screen>()

const Missing = () => (
  <NotFound title={t().errors.noScreen} text={t().errors.noScreenText} href={href('/')} name={t().nav.overview} />
)

interface LoadedProps extends ScreenProps {
  readonly path: string
  readonly load: () => Promise<Screen>
}

/** A screen, whose script is loaded when it is first shown. */
const Loaded = ({ path, load, params }: LoadedProps) => {
  const [loaded, setLoaded] = useState<{ readonly path: string; readonly failed: boolean } | undefined>(undefined)
  useEffect(() => {
    if (known.has(path)) return
    load().then(
      (screen) => {
        known.set(path, screen)
        setLoaded({ path, failed: false })
      },
      () => setLoaded({ path, failed: true }),
    )
  }, [path])
  const Found = known.get(path)
  if (Found) return <Found key={at.value.path} params={params} />
  if (loaded?.path === path && loaded.failed)
    // a newer version of the service has other files
    return (
      <Notice kind="bad" action={<Button onClick={() => location.reload()}>{t().actions.reload}</Button>}>
        {t().errors.newVersion}
      </Notice>
    )
  return null
}

/** The screen that the address names. */
const Current = () => {
  const route = routeAt(at.value.path)
  return route ? <Loaded {...route} /> : <Missing />
}

const loadSignIn = async () => (await import('./screens/accounts/signin.tsx')).SignIn

export const App = () => {
  const who = account.value
  const problem = accountProblem.value
  return (
    <>
      {who === null ? (
        <Loaded path="sign in" load={loadSignIn} params={{}} />
      ) : (
        <Shell>{problem && !who ? <Failed error={problem} reload={() => void readAccount()} /> : <Current />}</Shell>
      )}
      {overlay.value}
      <Toasts />
    </>
  )
}
