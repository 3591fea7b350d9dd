import {
  confirmPage,
  createdPage,
  firstAccountPage,
  gonePage,
  newPasswordPage,
} from '../../src/http/public/account/pages.ts'
import { invitationPage } from '../../src/http/public/account/invitation.ts'
import { interstitialPage, peoplePage } from '../../src/http/public/interstitial/interstitials.ts'
import type { WritePage } from '../../src/http/public/page/page.ts'
import { endedPage, failurePage, homePage, listPage, pages } from '../../src/http/public/page/messages.ts'
import { passwordLimitPage, passwordPage } from '../../src/http/public/password/page.ts'
import { english as en } from '../../src/http/public/texts/languages.ts'
import type { View } from '../../src/http/public/page/view.ts'

/** A visitor who reads English. */
export const englishView: View = {
  texts: en,
  host: 'sho.rt',
  address: 'sho.rt/alias',
  phone: false,
  operator: { name: 'Linkledger', email: undefined, imprint: undefined, privacy: undefined },
}

const url = 'https://shop.example.co.uk/tours/2027/lofoten/the-long-route-around-the-islands/booking?x=1'
const interstitial = { type: 'direct', title: '', description: '', image: '', card: false, pixels: [] } as const
const pixels = [{ id: 1, type: 'bing', tag: '1' }] as const
/** Returns the page before a destination. */
export const shown = (way: 'pixels' | 'splash' | 'card', to = url) =>
  interstitialPage({ way, interstitial: { ...interstitial, pixels: way === 'pixels' ? pixels : [] } }, to, {
    secure: true,
    form: undefined,
    consent: 'notice',
    apart: true,
  })
const link = { token: 'a-token-that-works-once' }
/** Every page of a link, of an account, and of a failure. */
export const every: Readonly<Record<string, WritePage>> = {
  ...pages,
  home: homePage,
  expired: endedPage(new Date('2026-10-31T18:00:00Z'), 'https://nordlicht.example/'),
  usedUp: endedPage(null),
  people: peoplePage(undefined, 200),
  unavailable: failurePage('unavailable', '7KQ2-M9XD'),
  failed: failurePage('failed', '7KQ2-M9XD'),
  password: passwordPage({ wrong: false }),
  wrong: passwordPage({ wrong: true }),
  limit: passwordLimitPage(60),
  list: listPage({ title: 'Sale', links: [], newer: undefined, older: undefined }),
  redirecting: shown('pixels'),
  splash: shown('splash'),
  card: shown('card'),
  firstAccount: firstAccountPage(link),
  confirm: confirmPage('email', { email: 'a.rather.long.name@mail.example.co.uk', username: 'ann' }, link),
  newPassword: newPasswordPage(link),
  created: createdPage({ id: 1, username: 'ann', api_key: `ll_${'k'.repeat(60)}` }),
  gone: gonePage,
  invitation: invitationPage({ name: 'acme' }, link, true),
  invitationOnly: invitationPage({ name: 'acme' }, link, false),
}
