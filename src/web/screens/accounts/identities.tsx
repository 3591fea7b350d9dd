import type { Begun, Identity, IdentityList } from '../../../http/accounts/contract/identity.ts'
import { t } from '../../core/alltexts.ts'
import { useState } from 'preact/hooks'
import { request } from '../../core/api.ts'
import { service } from '../../core/session.ts'
import { fill } from '../../core/texts.ts'
import { say, sayProblem } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Section } from '../../parts/section.tsx'
import { Proven } from './proven.tsx'

/** Leads to the issuer, which leads back to this screen. */
export const goToIssuer = async (
  path: '/api/identity/add' | '/api/session/confirm/identity',
  proof: object = {},
): Promise<void> => {
  const { address } = await request<Begun>('POST', path, { to: location.pathname + location.search, ...proof })
  location.assign(address)
}

const nameOf = ({ name, subject }: Identity) => name || subject

const Row = ({ identity }: { readonly identity: Identity }) => {
  const texts = t().account
  const remove = () =>
    request('DELETE', `/api/identity/${identity.id}/delete`).then(
      () => say(fill(texts.identityRemoved, { name: nameOf(identity) })),
      sayProblem,
    )
  return (
    <tr>
      <th scope="row">
        <strong dir="auto">{nameOf(identity)}</strong>
        <br />
        <span class="quiet small cut">{identity.issuer}</span>
      </th>
      <td class="quiet">{identity.current && texts.thisOne}</td>
      <td class="num">
        <Button writes onClick={() => void remove()}>
          {texts.removeIdentity}
        </Button>
      </td>
    </tr>
  )
}

/** An identity signs in permanently, so the dialog asks for the password, and a code where there is a second factor. */
const LinkDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Proven
    title={fill(t().account.linkIdentity, { name: service.issuer })}
    action={t().account.confirmed}
    hasPassword
    onSend={(proof) => goToIssuer('/api/identity/add', proof)}
    onClose={onClose}
  />
)

/** The identities of the account at the service's issuer, and a way to link one. */
export const Identities = ({ list }: { readonly list: IdentityList['data'] }) => {
  const texts = t().account
  const name = service.issuer
  const title = fill(texts.identities, { name })
  const [isLinking, setIsLinking] = useState(false)
  const link = () =>
    list.password && service.passwords ? setIsLinking(true) : void goToIssuer('/api/identity/add').catch(sayProblem)
  return (
    <Section title={title}>
      <p>{fill(list.identities.length > 0 ? texts.identitiesText : texts.noIdentity, { name })}</p>
      {list.identities.length > 0 && (
        <table class="figures">
          <caption class="visually-hidden">{title}</caption>
          <tbody>
            {list.identities.map((identity) => (
              <Row key={identity.id} identity={identity} />
            ))}
          </tbody>
        </table>
      )}
      <div>
        <Button writes onClick={link}>
          {fill(texts.linkIdentity, { name })}
        </Button>
      </div>
      {isLinking && <LinkDialog onClose={() => setIsLinking(false)} />}
    </Section>
  )
}
