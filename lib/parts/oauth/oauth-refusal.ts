/**
 * How the endpoints of the OAuth proxy refuse: always by an error of OAuth, whatever was wrong.
 * Spec: RFC 6749 §4.1.2.1, §5.2; RFC 7591 §3.2.2.
 */
import { formatJson } from '../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import type { Refusal, Reply } from '../../kernel/http/message/exchange.ts'

export type OauthErrorCode =
  | 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'invalid_scope' | 'invalid_target'
  | 'unsupported_grant_type' | 'unsupported_response_type' | 'access_denied' | 'server_error'
  | 'temporarily_unavailable' | 'invalid_redirect_uri' | 'invalid_client_metadata'

export const NO_STORE: readonly string[] = ['Cache-Control', 'no-store']

const MAX_DESCRIPTION = 1_000

/** A refusal by its code, with a sentence for the client's developer or, where there is a page, its user. */
export class OauthRefusal extends Error {
  readonly code: OauthErrorCode
  readonly status: number
  /** Name, value, name, value. */
  readonly headers: readonly string[]

  constructor(code: OauthErrorCode, message: string, status = 400, headers: readonly string[] = []) {
    super(message)
    this.code = code
    this.status = status
    this.headers = headers
  }
}

export function oauthJson(value: object, status = 200, headers: readonly string[] = []): Reply {
  return { status, type: JSON_TYPE, headers: [...NO_STORE, ...headers], body: formatJson(value) }
}

export function refusalReply({ code, message, status, headers }: OauthRefusal): Reply {
  // The characters that RFC 6749 allows here.
  const sentence = message.slice(0, MAX_DESCRIPTION).replace(/["\\]/g, `'`).replace(/[^\x20-\x7e]/g, '?')
  return oauthJson({ error: code, error_description: sentence }, status, headers)
}

/** What is refused before the endpoint sees it: method, media type, length, load, rate. */
export function refuseAsOauth({ status, detail, headers }: Refusal): Reply {
  return refusalReply(new OauthRefusal(codeOf(status), detail, status, headers))
}

function codeOf(status: number): OauthErrorCode {
  if (status === 403) return 'access_denied'
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}
