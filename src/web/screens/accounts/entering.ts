import { useEffect, useState } from 'preact/hooks'
import { ApiError, request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { signIn } from '../../core/session.ts'
import { say } from '../../core/toasts.ts'

/** What is entered, and what became of it. */
export const useSignIn = () => {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [needsCode, setNeedsCode] = useState(false)
  const { busy, problem, run } = useForm()
  const enter = async () => {
    try {
      await signIn({ email, password, ...(needsCode ? { code } : {}) })
    } catch (error) {
      const isAsked = error instanceof ApiError && error.body['second_factor'] === true
      // that a code is needed is no mistake; that it is wrong is one
      if (!isAsked || needsCode) throw error
      setNeedsCode(true)
    }
  }
  const register = async () => {
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
    const made = await request<{ readonly message?: string }>('POST', '/register', { email, password, timezone })
    // where the service sends mail, the account begins with the link in it
    if (made.message !== undefined) say(made.message)
    else await enter()
  }
  const back = () =>
    run(async () => {
      setNeedsCode(false)
      setCode('')
    })
  /** It is loaded when somebody asks for it. */
  const withPasskey = () =>
    run(async () => {
      const { askPasskey } = await import('../../core/passkey.ts')
      const passkey = await askPasskey('/api/session/passkey/begin')
      await signIn(needsCode ? { email, password, passkey } : { passkey })
    })
  return {
    email,
    setEmail,
    password,
    setPassword,
    code,
    setCode,
    needsCode,
    problem,
    busy,
    run,
    enter,
    register,
    back,
    withPasskey,
  }
}
export type SignInState = ReturnType<typeof useSignIn>

/** Offers passkeys where the browser fills in the e-mail address, as long as the sign-in is shown. */
export const useOffer = ({ run }: SignInState, isOffered: boolean) =>
  useEffect(() => {
    if (!isOffered || !('PublicKeyCredential' in window)) return
    const gone = new AbortController()
    const offer = async () => {
      const { offerPasskeys } = await import('../../core/passkey.ts')
      const passkey = gone.signal.aborted ? undefined : await offerPasskeys(gone.signal)
      if (passkey !== undefined) await run(() => signIn({ passkey }))
    }
    void offer()
    return () => gone.abort()
  }, [isOffered])
