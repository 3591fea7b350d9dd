import { z } from 'zod'
import { splash } from '../commands/splash.ts'
import { findSplash, listSplashes, type SplashRow } from '../queries/splash.ts'
import { addRoute, deleteRoute, detailsRoute, listRoute, updateRoute } from './owned.ts'
import { name, orEmpty, orInitial, url } from './api/fields.ts'
import { must, text, timestamp } from '../lib/fields.ts'

const label = 'Splash page'
const { error } = must('a whole number of seconds from 0 to 60')

const fields = z
  .object({
    name,
    title: orEmpty(text(255)),
    message: orEmpty(text(2000)),
    logo: orEmpty(url),
    banner: orEmpty(url),
    product: orEmpty(url),
    counter: orInitial(z.int({ error }).min(0, { error }).max(60, { error }), splash.initialState.fields.counter),
  })
  .partial()

const listed = ({ id, name, created }: SplashRow) => ({ id, name, date: timestamp(created) })
const details = ({ id, name, title, message, logo, banner, product, counter, created }: SplashRow) => {
  const date = timestamp(created)
  return { id, name, title, message, logo, banner, product, counter, date }
}

export const splashRoutes = [
  listRoute('/api/splash', 'splash', listSplashes, listed),
  detailsRoute('/api/splash/:id', splash, label, findSplash, details),
  addRoute('/api/splash/add', 'splash', splash, fields.extend({ name })),
  updateRoute('/api/splash/:id/update', splash, label, fields),
  deleteRoute('/api/splash/:id/delete', splash, label),
]
