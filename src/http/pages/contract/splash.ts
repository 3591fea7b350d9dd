import { z } from 'zod'
import {
  type AnswerOf,
  type Whole,
  created,
  deleted,
  id,
  listOf,
  ownedFields,
  type Contract,
  revision,
  success,
  text,
  time,
  updated,
} from '../../api/contract.ts'

const row = z.object({ id, name: text, date: time, revision })
const fields = {
  counter: 'seconds until the visitor is redirected, 0 to 60; 10 if not sent',
  label: 'text of the button to the destination',
  productLabel: 'text of the button to the product',
  color: 'HEX color',
}

export const splashPages = listOf('Splash', 'splash', row)
export type SplashList = Whole<typeof splashPages>

export const splashContract = {
  'GET /api/splash': {
    summary: 'List splash pages',
    fields: ownedFields,
    ...splashPages,
  },
  'GET /api/splash/:id': {
    summary: 'Get a splash page',
    answer: success({
      details: row
        .extend({
          title: text,
          message: text,
          logo: text,
          banner: text,
          product: text,
          label: text,
          productLabel: text,
          color: text,
          counter: z.int().min(0).max(60),
        })
        .meta({ id: 'SplashDetails' }),
    }),
  },
  'POST /api/splash/add': {
    summary: 'Create a splash page',
    description: 'A page that visitors see before they are redirected. A link shows it with the `type` `splash-<id>`.',
    fields,
    example: { name: 'Spring', title: 'Spring sale', message: 'You are about to enter our shop.', counter: 5 },
    answer: created,
  },
  'PUT /api/splash/:id/update': {
    summary: 'Change a splash page',
    fields,
    example: { counter: 0 },
    answer: updated,
  },
  'DELETE /api/splash/:id/delete': {
    summary: 'Delete a splash page',
    description: 'Its links then redirect directly.',
    answer: deleted,
  },
} satisfies Contract

export type FoundSplash = AnswerOf<typeof splashContract, 'GET /api/splash/:id'>
export type SplashDetails = FoundSplash['details']
