/**
 * Hosts of client ID metadata documents on this machine, and names that lead to them. TLS goes by a shared
 * key, so that no certificate has to be kept here. No test itself.
 */
import assert from 'node:assert/strict'
import { promises as dns } from 'node:dns'
import https from 'node:https'
import { isIP } from 'node:net'
import { portOf } from '../../fixtures/listening.ts'
import { redirect_uri } from './oauth-login.ts'
import type { IncomingMessage, RequestOptions, ServerResponse } from 'node:http'
import type { LookupAddress } from 'node:dns'
import type { TestContext } from 'node:test'

const psk = Buffer.alloc(16, 7)
const secret = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const
const client = {
  ...secret, pskCallback: () => ({ psk, identity: 'test' }), checkServerIdentity: () => undefined,
}

export interface DocumentHost {
  /** Of this machine, without a path. */
  readonly origin: string
  /** Paths that were asked for, and their headers. */
  readonly asked: { readonly path: string; readonly headers: IncomingMessage['headers'] }[]
  /** Addresses that a connection might have been made to, for each one. */
  readonly pinned: (readonly string[])[]
  /** What names lead to. One that is not listed is not found. */
  readonly names: Map<string, readonly string[]>
  answer(id: string, response: ServerResponse): void
}

export function documentOf(client_id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { client_id, client_name: 'An <editor>', redirect_uris: [redirect_uri], ...more }
}

export function answerWith(
  body: unknown, headers: Record<string, string> = {}, status = 200,
): DocumentHost['answer'] {
  return (_id, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  }
}

/** Every connection of TLS that is begun ends here. */
export async function documentHost(t: TestContext): Promise<DocumentHost> {
  const server = https.createServer({ ...secret, pskCallback: () => psk }, (request, response) => {
    const { url = '', headers } = request
    host.asked.push({ path: url, headers })
    host.answer(`https://${headers.host}${url}`, response)
  })
  const port = await portOf(t, server)
  const host: DocumentHost = {
    origin: `https://localhost:${port}`, asked: [], pinned: [], names: new Map(),
    answer: (id, response) => answerWith(documentOf(id))(id, response),
  }
  const { request } = https
  t.after(() => { https.request = request })
  // A mock would keep all that it was called with.
  https.request = ((url: URL, options: RequestOptions) => {
    // A connection that is kept may lead elsewhere.
    assert.equal(options.agent, false)
    const lookup: RequestOptions['lookup'] = (name, how, callback) => {
      options.lookup!(name, how, (error, found) => {
        if (error !== null) return callback(error, '')
        host.pinned.push((found as LookupAddress[]).map(({ address }) => address))
        callback(null, [{ address: '127.0.0.1', family: 4 }])
      })
    }
    return request({
      ...options, ...client, port, host: url.hostname, lookup, path: `${url.pathname}${url.search}`,
      headers: { ...options.headers, host: url.host },
    })
  }) as typeof https.request
  t.mock.method(dns, 'lookup', async (name: string) => {
    const found = (host.names.get(name) ?? []).map((address) => ({ address, family: isIP(address) }))
    if (found.length > 0) return found
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
  })
  return host
}
