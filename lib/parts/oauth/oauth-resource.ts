/** The one resource that tokens are for. Spec: RFC 8707 §2. */
import { OauthRefusal } from './oauth-refusal.ts'
import { isSameAddress } from './same-address.ts'
import type { OauthParameters } from './oauth-parameters.ts'

/** Throws `OauthRefusal` where a request names another one. */
export function requireResource(own: string, asked: OauthParameters): void {
  const resource = asked.get('resource')
  if (resource === undefined || isSameAddress(resource, own)) return
  throw new OauthRefusal('invalid_target', `The resource here is ${own}`)
}
