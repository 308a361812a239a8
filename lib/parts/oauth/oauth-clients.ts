/**
 * The clients of the OAuth proxy: how they register, and where one is looked up by its id. The id of a client
 * that has registered holds what it has said, so that nothing is kept for it; one that is an address leads to
 * what the client says of itself.
 * Spec: RFC 7591; MCP, Client Registration.
 */
import { isScope, parseScope } from '../../kernel/wire/challenge.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import {
  isRedirect, MAX_REDIRECT, metadataIn, shownName, requireFlow, wrongMetadata, wrongRedirects,
} from './oauth-metadata.ts'
import { oauthJson } from './oauth-refusal.ts'
import type { Reply } from '../../kernel/http/message/exchange.ts'
import type { Seal } from '../../kernel/wire/seal.ts'
import type { OauthDocuments } from './oauth-documents.ts'
import type { OauthClient } from './oauth-metadata.ts'

const MAX_METADATA = 32 * 1024
const MAX_REDIRECTS = 20
/** An authorization request, which has the id in its first line, must stay below 16 KiB with its headers. */
const MAX_ID = 7_000
const MAX_SCOPE = 2_048

export class OauthClients {
  readonly #seal: Seal
  readonly #documents: OauthDocuments | undefined

  /** Without `documents` all must register. */
  constructor(seal: Seal, documents: OauthDocuments | undefined) {
    this.#seal = seal
    this.#documents = documents
  }

  /**
   * Undefined for one that is not known. `caller` asks: what is read elsewhere counts for them. Rejects with
   * `OauthRefusal` where what is there is not right.
   */
  async find(id: string, caller: string): Promise<OauthClient | undefined> {
    return this.#registered(id) ?? await this.#documents?.find(id, caller)
  }

  /**
   * Whether there can be such a client. What was granted to it says whom it is for, so that its document is
   * not read again.
   */
  isKnown(id: string): boolean {
    return this.#registered(id) !== undefined || this.#documents?.mayRead(id) === true
  }

  #registered(id: string): OauthClient | undefined {
    return this.#seal.open('oauth client', id) as OauthClient | undefined
  }

  /** Throws `OauthRefusal` with the member that is wrong. */
  register(body: string): Reply {
    if (body.length > MAX_METADATA) throw wrongMetadata(`more than ${MAX_METADATA} characters`, 413)
    const metadata = metadataIn(body)
    const { redirect_uris: uris, client_name: name } = metadata
    if (!isStrings(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS || !uris.every(isRedirect)) {
      throw wrongRedirects(`must be 1 to ${MAX_REDIRECTS} addresses of at most ${MAX_REDIRECT} characters: `
        + `https, http of this machine, or of a scheme of the application's own; without a fragment`)
    }
    requireFlow(metadata)
    const scope = metadata['scope'] ?? undefined
    if (scope !== undefined && !isScopes(scope)) throw wrongMetadata('a scope that is no list of scopes')
    const client: OauthClient = { name: shownName(name), redirectUris: uris }
    const id = this.#seal.seal('oauth client', client, Infinity)
    if (id.length > MAX_ID) throw wrongRedirects('are too long together')
    return oauthJson({
      client_id: id, client_name: client.name, redirect_uris: uris,
      client_id_issued_at: Math.floor(Date.now() / 1_000), token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], scope,
    }, 201)
  }
}

function isScopes(scope: unknown): scope is string {
  return typeof scope === 'string' && scope.length <= MAX_SCOPE && parseScope(scope).every(isScope)
}
