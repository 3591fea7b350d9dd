import { useEffect, useState } from 'preact/hooks'
import { ApiError, request } from '../../core/api.ts'
import { useForm } from '../../core/form.ts'
import { signIn } from '../../core/session.ts'
import { say } from '../../core/toasts.ts'

/** The input of a sign-in, and its result. */
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
      // the need for a code is no mistake; a wrong code is
      if (!isAsked || needsCode) throw error
      setNeedsCode(true)
    }
  }
  const register = async () => {
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
    const made = await request<{ readonly message?: string }>('POST', '/register', { email, password, timezone })
    // where the service sends mail, the link in it creates the account
    if (made.message !== undefined) say(made.message)
    else await enter()
  }
  const back = () =>
    run(async () => {
      setNeedsCode(false)
      setCode('')
    })
  /** Loaded on demand. */
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

/** Offers passkeys in the browser's autofill of the e-mail address, as long as the sign-in is shown. */
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
