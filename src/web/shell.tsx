import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './core/api.ts'
import { approvals, useApprovals } from './core/approvals.ts'
import { useKey } from './core/keys.ts'
import { past } from './core/past.ts'
import { at, go, href, withQuery } from './core/router.ts'
import { account, shortHost, role } from './core/session.ts'
import { fill, loadTexts, t } from './core/texts.ts'
import { zone } from './core/time.ts'
import { sayProblem } from './core/toasts.ts'
import { placesOf } from './navigation.ts'
import { AccountMenu } from './parts/accountmenu.tsx'
import { Icon, Logo } from './parts/icon.tsx'
import { Help } from './parts/help.tsx'
import { Timeline } from './parts/timeline.tsx'

const isCurrent = (path: string) => {
  const now = at.value.path
  return path === '/' ? now === '/' : now === path || now.startsWith(`${path}/`)
}

/** Whether this screen is under "More" on a phone. */
const isFurther = () =>
  isCurrent('/more') ||
  placesOf(account.value, role.value, approvals.value.guarded).some(({ path, onPhone }) => !onPhone && isCurrent(path))

const loadSheet = async () =>
  (await Promise.all([import('./screens/links/editor/sheet.tsx'), loadTexts()]))[0].LinkSheet

/** Preloads the sheet for a new link when the user is about to open it. */
const expectSheet = () => void loadSheet().catch(() => {})
/** Properties of a link that opens the sheet for a new link, above this screen. */
const createLink = () => ({
  href: withQuery({ sheet: 'new' }),
  onPointerEnter: expectSheet,
  onFocus: expectSheet,
})

const Side = () => {
  const texts = t()
  useApprovals()
  const { waiting } = approvals.value
  return (
    <nav class="side" aria-label={texts.nav.label}>
      <a class="brand" href={href('/')}>
        <Logo />
        Linkledger
      </a>
      <ul>
        {placesOf(account.value, role.value, approvals.value.guarded).map(
          ({ path, name, icon, onPhone, startsGroup }) => (
            <li key={path} class={`${onPhone ? '' : 'not-phone'}${startsGroup ? ' group-start' : ''}`}>
              <a href={href(path)} aria-current={isCurrent(path) ? 'page' : undefined}>
                <Icon name={icon} />
                {texts.nav[name]}
                {name === 'approvals' && waiting > 0 && <span class="count">{waiting}</span>}
              </a>
            </li>
          ),
        )}
        {!past.value && (
          <li class="on-phone">
            <a class="make" {...createLink()}>
              <Icon name="plus" />
              {texts.nav.create}
            </a>
          </li>
        )}
        <li class="on-phone">
          <a href={href('/more')} aria-current={isFurther() ? 'page' : undefined}>
            <Icon name="more" />
            {texts.nav.more}
          </a>
        </li>
      </ul>
    </nav>
  )
}

const Search = () => {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useKey('/', () => field.current?.focus())
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    go(href('/links', { q: text.trim() }))
    setText('')
    field.current?.blur()
  }
  return (
    <form class="search" role="search" aria-label={t().nav.search} onSubmit={submit}>
      <label class="visually-hidden" for="find">
        {t().nav.search}
      </label>
      <Icon name="search" />
      <input
        class="input"
        id="find"
        ref={field}
        type="search"
        enterKeyHint="search"
        placeholder={t().nav.searchFor}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  )
}

const Top = ({ onHelp }: { readonly onHelp: () => void }) => (
  <header class="top">
    <div class="top-row">
      <a class="brand on-phone" href={href('/')}>
        <Logo />
        Linkledger
      </a>
      <Search />
      <div class="end">
        <a class="button plain only-icon on-phone" href={href('/links')} aria-label={t().nav.search}>
          <Icon name="search" />
        </a>
        <button class="button plain not-phone" type="button" onClick={onHelp}>
          {t().nav.help} <kbd aria-hidden="true">?</kbd>
        </button>
        <AccountMenu />
        {past.value ? (
          <span class="read-only" title={t().past.readOnlyWhy}>
            <Icon name="lock" />
            <span>{t().past.readOnly}</span>
          </span>
        ) : (
          <a class="button primary not-phone" {...createLink()}>
            <Icon name="plus" />
            {t().nav.createLink} <kbd aria-hidden="true">C</kbd>
          </a>
        )}
      </div>
    </div>
    <Timeline />
  </header>
)

const Foot = ({ onHelp }: { readonly onHelp: () => void }) => (
  <footer class="foot">
    <span>{shortHost}</span>
    <span>{fill(t().nav.utc, { zone: zone.value.replaceAll('_', ' ') })}</span>
    <button class="text-button small not-phone" type="button" onClick={onHelp}>
      {t().help.title}
    </button>
  </footer>
)

/** The sheet for a new link, which is loaded when it is first opened. */
const NewLink = ({ onClose }: { readonly onClose: () => void }) => {
  const [Sheet, setSheet] = useState<Awaited<ReturnType<typeof loadSheet>> | undefined>(undefined)
  useEffect(() => {
    loadSheet().then(
      (found) => setSheet(() => found),
      () => {
        sayProblem(new ApiError(0, t().errors.newVersion))
        onClose()
      },
    )
  }, [])
  return Sheet ? <Sheet id={undefined} onClose={onClose} /> : null
}

/** The frame of every screen: navigation, search, and the sheet that creates a link. */
export const Shell = ({ children }: { readonly children: ComponentChildren }) => {
  const [help, setHelp] = useState(false)
  const isPast = past.value !== undefined
  useKey('c', () => !isPast && go(createLink().href))
  useKey('?', () => setHelp(true))
  useEffect(() => void document.documentElement.toggleAttribute('data-past', isPast), [isPast])
  const isCreating = !isPast && at.value.query.get('sheet') === 'new'
  return (
    <>
      <a class="skip" href="#main">
        {t().nav.skip}
      </a>
      <div class="shell">
        <Side />
        <Top onHelp={() => setHelp(true)} />
        <main id="main" tabIndex={-1}>
          {children}
        </main>
        <Foot onHelp={() => setHelp(true)} />
      </div>
      {isCreating && (
        <NewLink
          onClose={() =>
            go(withQuery({ sheet: undefined, alias: undefined, on: undefined, like: undefined }), { replace: true })
          }
        />
      )}
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  )
}
