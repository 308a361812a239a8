/** The one resource that tokens are for. Spec: RFC 8707 §2. */
import { OauthRefusal } from './oauth-refusal.ts'
import type { OauthParameters } from './oauth-parameters.ts'

/** Throws `OauthRefusal` where a request names another one. */
export function requireResource(own: string, asked: OauthParameters): void {
  const resource = asked.get('resource')
  if (resource === undefined || isSameResource(resource, own)) return
  throw new OauthRefusal('invalid_target', `The resource here is ${own}`)
}

function isSameResource(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href.replace(/\/$/, '') === new URL(other).href.replace(/\/$/, '')
}
