import { z } from 'zod'
import { splash } from '../../commands/pages/splash.ts'
import type { SplashFields } from '../../events/pages/splash.ts'
import { findSplash, listSplashes, type SplashRow } from '../../queries/pages/splash.ts'
import { addRoute, type AddressesOf, deleteRoute, detailsRoute, listRoute, updateRoute } from '../api/owned.ts'
import { type Blocking, rejectBlocked } from '../api/blockedaddress.ts'
import type { Route } from '../api/route.ts'
import { color, name, orEmpty, orInitial, url } from '../api/fields.ts'
import { must, text, timestamp } from '../../lib/fields.ts'
import { splashContract } from './contract/splash.ts'

const label = 'Splash page'
const { error } = must('wrong_type', { what: 'seconds_between' })

const fields = z
  .object({
    name,
    title: orEmpty(text(255)),
    message: orEmpty(text(2000)),
    logo: orEmpty(url),
    banner: orEmpty(url),
    product: orEmpty(url),
    label: orEmpty(text(60)),
    productLabel: orEmpty(text(60)),
    color: orEmpty(color),
    counter: orInitial(z.int({ error }).min(0, { error }).max(60, { error }), splash.initialState.fields.counter),
  })
  .partial()

export const addressesOf: AddressesOf<SplashFields> = ({ logo, banner, product }) => ({
  logo: [logo],
  banner: [banner],
  product: [product],
})

const listed = ({ id, name, created, revision }: SplashRow) => ({ id, name, date: timestamp(created), revision })
/** Events of older releases have no labels and no color. */
const details = (row: SplashRow) => {
  const { title, message, logo, banner, product, label, productLabel, color, counter } = row
  const own = { label: label ?? '', productLabel: productLabel ?? '', color: color ?? '' }
  return { ...listed(row), title, message, logo, banner, product, ...own, counter }
}

export const splashRoutes = (services: Blocking): readonly Route[] => [
  listRoute(splashContract, '/api/splash', listSplashes, listed),
  detailsRoute('/api/splash/:id', splash, findSplash, details),
  addRoute('/api/splash/add', 'splash', splash, fields.extend({ name }), (body) =>
    rejectBlocked(addressesOf(body), services),
  ),
  updateRoute('/api/splash/:id/update', splash, label, fields, (body) => rejectBlocked(addressesOf(body), services)),
  deleteRoute('/api/splash/:id/delete', splash, label),
]
