import type { SplashFields } from '../events/splash.ts'
import { owned } from './owned.ts'

export const splash = owned<'Splash', SplashFields>('Splash', {
  label: 'Splash page',
  initial: { name: '', title: '', message: '', logo: '', banner: '', product: '', counter: 10 },
})
