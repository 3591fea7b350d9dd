import { z } from 'zod'
import { splash } from '../../commands/pages/splash.ts'
import type { SplashFields } from '../../events/pages/splash.ts'
import { findSplash, listSplashes, type SplashRow } from '../../queries/pages/splash.ts'
import { addOwned, type AddressesOf, deleteOwned, listOwned, showOwned, updateOwned } from '../api/owned.ts'
import { type Blocking, rejectBlocked } from '../api/blockedaddress.ts'
import { endpoint, type Route } from '../api/route.ts'
import { color, name, orEmpty, orInitial, url } from '../api/fields.ts'
import { must, text, timestamp } from '../../lib/fields.ts'
import { splashContract, splashPages } from './contract/splash.ts'

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

export const splashRoutes = (services: Blocking): readonly Route[] => {
  const check = (body: Parameters<typeof addressesOf>[0]) => rejectBlocked(addressesOf(body), services)
  return [
    endpoint(splashContract, 'GET /api/splash', { scope: 'read', ...listOwned(splashPages, listSplashes, listed) }),
    endpoint(splashContract, 'GET /api/splash/:id', showOwned(splash, findSplash, details)),
    endpoint(splashContract, 'POST /api/splash/add', addOwned('splash', splash, fields.extend({ name }), check)),
    endpoint(splashContract, 'PUT /api/splash/:id/update', updateOwned('splash', splash, fields, check)),
    endpoint(splashContract, 'DELETE /api/splash/:id/delete', deleteOwned('splash', splash)),
  ]
}
