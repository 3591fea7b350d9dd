import type { SplashFields } from '../../events/pages/splash.ts'
import { owned } from '../owned/owned.ts'

const initial: SplashFields = {
  name: '',
  title: '',
  message: '',
  logo: '',
  banner: '',
  product: '',
  label: '',
  productLabel: '',
  color: '',
  counter: 10,
}

export const splash = owned(
  { created: 'SplashCreated', updated: 'SplashUpdated', deleted: 'SplashDeleted', restored: 'SplashRestored' },
  { kind: 'splash', version: 4, initial },
)
