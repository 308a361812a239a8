/** The resources of this server, each of which takes the tokens of all. Spec: RFC 8707 §2. */
import { OauthRefusal } from './oauth-refusal.ts'
import { isSameAddress } from './same-address.ts'
import type { Credentials } from '../../kernel/server/part.ts'
import type { OauthParameters } from './oauth-parameters.ts'

/** Throws `OauthRefusal` where a request names another one. */
export function requireResource(
  own: string, { resourceAt }: Pick<Credentials, 'resourceAt'>, asked: OauthParameters,
): void {
  const resource = asked.get('resource')
  if (resource === undefined || isSameAddress(resource, own)) return
  const known = resourceAt(resource)
  if (known !== undefined && isSameAddress(resource, known)) return
  throw new OauthRefusal('invalid_target', `The resource here is ${own}`)
}
