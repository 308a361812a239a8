/** A provider, a browser and a client, with which tests log in at the OAuth proxy. No test itself. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer as createHttp } from 'node:http'
import { oauthProxy } from '../../../lib/index.ts'
import { jsonOf, request, serve } from '../../fixtures/client.ts'
import { portOf } from '../../fixtures/listening.ts'
import type { TestContext } from 'node:test'
import type { OauthProxyOptions, ServerOptions, TriportServer } from '../../../lib/index.ts'

export const resource = 'https://triport.test/mcp'
export const redirect_uri = 'http://127.0.0.1:9/callback'
export const verifier = 'a'.repeat(43)
export const challenge = createHash('sha256').update(verifier).digest('base64url')

export interface Provider {
  readonly url: string
  /** Forms that its token endpoint got. */
  readonly asked: URLSearchParams[]
  answer: { status: number; body: object }
  /** Its answers wait from now on, until what this returns is called. */
  hold(): () => void
}

/** A provider whose users have logged in already. */
export async function providerFor(t: TestContext): Promise<Provider> {
  const asked: URLSearchParams[] = []
  let held: Promise<void> | undefined
  const server = createHttp(async (req, res) => {
    let text = ''
    for await (const chunk of req) text += String(chunk)
    asked.push(new URLSearchParams(text))
    const { status, body } = provider.answer
    await held
    res.writeHead(status).end(JSON.stringify(body))
  })
  const provider: Provider = {
    url: `http://127.0.0.1:${await portOf(t, server)}`, asked,
    answer: { status: 200, body: { access_token: 'at-1', refresh_token: 'rt-1', scope: 'openid' } },
    hold() {
      let release = (): void => {}
      held = new Promise((resolve) => { release = resolve })
      return release
    },
  }
  return provider
}

export function serving(
  t: TestContext, provider: Provider, more: Partial<OauthProxyOptions> = {}, options: ServerOptions = {},
): TriportServer {
  return serve(t, {
    ...options,
    protocol: 'all', publicUrl: 'https://triport.test', name: 'Shop <1>',
    tools: [{
      name: 'who', description: 'Who.',
      run: (_args, { principal: { id, scopes } }) => `${id} ${scopes.join(' ')}`,
    }],
    auth: oauthProxy({
      resource, authorizationEndpoint: `${provider.url}/authorize`, tokenEndpoint: `${provider.url}/token`,
      clientId: 'shop', clientSecret: 'hush', providerScopes: ['openid', 'email'],
      parameters: { prompt: 'login' },
      identify: ({ accessToken: subject }) => (
        subject === 'nobody' ? null : { subject, scopes: ['read'] }
      ),
      ...more,
    }),
  })
}

/** One browser, with its cookie. */
export class Browser {
  readonly #server: TriportServer
  cookie = ''

  constructor(server: TriportServer) { this.#server = server }

  async go(path: string, form?: Form | string, headers: Form = {}): Promise<Response> {
    const body = form === undefined ? undefined : String(new URLSearchParams(form))
    const response = await this.#server.fetch(request(path, body, {
      cookie: this.cookie, ...form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' },
      ...headers,
    }))
    this.cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.cookie
    return response
  }
}

export async function registered(server: TriportServer, uri = redirect_uri): Promise<string> {
  const body = { redirect_uris: [uri], client_name: 'An <editor>' }
  const reply = await server.fetch(request('/oauth/register', body))
  assert.equal(reply.status, 201)
  return String((await jsonOf(reply))['client_id'])
}

export function authorizePath(client_id: string, more: Record<string, string> = {}): string {
  return `/oauth/authorize?${new URLSearchParams({
    response_type: 'code', client_id, redirect_uri, code_challenge: challenge, code_challenge_method: 'S256',
    state: 'st', resource, scope: 'read', ...more,
  })}`
}

export function locationOf(response: Response): URL {
  assert.equal(response.status, 303)
  return new URL(response.headers.get('location') ?? '')
}

/** What the consent page seals, for its form. */
export async function consentFor(browser: Browser, clientId: string, more: Form = {}): Promise<string> {
  const page = await (await browser.go(authorizePath(clientId, more))).text()
  return /name="request" value="([^"]+)"/.exec(page)?.[1] ?? ''
}

/** Where the provider sends the user back to. */
export async function callbackFor(browser: Browser, clientId: string, more: Form = {}): Promise<string> {
  const sealed = await consentFor(browser, clientId, more)
  const login = locationOf(await browser.go('/oauth/consent', { request: sealed, decision: 'allow' }))
  return `/oauth/callback?${new URLSearchParams({ state: login.searchParams.get('state') ?? '' })}`
}

/** Goes all the way to a code. */
export async function codeFor(server: TriportServer, clientId: string, more: Form = {}): Promise<string> {
  const browser = new Browser(server)
  const back = locationOf(await browser.go(`${await callbackFor(browser, clientId, more)}&code=pc`))
  return back.searchParams.get('code') ?? String(back)
}

export function tokenFor(server: TriportServer, form: Form | string, headers?: Form): Promise<Response> {
  return new Browser(server).go('/oauth/token', form, headers)
}

/** Status and code of a refusal. */
export async function refusalIn(response: Response): Promise<readonly unknown[]> {
  return [response.status, (await jsonOf(response))['error']]
}

export interface Tokens { readonly access: string; readonly refresh: string; readonly scope: unknown }

export async function tokensIn(response: Response): Promise<Tokens> {
  const { access_token: access, refresh_token: refresh, scope, error } = await jsonOf(response)
  assert.equal(response.status, 200, String(error))
  return { access: String(access), refresh: String(refresh), scope }
}

/** Logs in and exchanges the code. */
export async function tokensFor(server: TriportServer, clientId: string, more: Form = {}): Promise<Tokens> {
  return tokensIn(await tokenFor(server, exchange(clientId, await codeFor(server, clientId, more))))
}

/** How a call with a token is answered. */
export async function callWith(server: TriportServer, token: string): Promise<readonly unknown[]> {
  const response = await server.fetch(request('/tools/who', {}, { authorization: `Bearer ${token}` }))
  const text = await response.text()
  return response.status === 200 ? [200, text] : [response.status]
}

export const refreshing = (client_id: string, refresh_token: string, more: Form = {}): Form => (
  { grant_type: 'refresh_token', client_id, refresh_token, ...more }
)

export type Form = Record<string, string>

export const exchange = (client_id: string, code: string, more: Form = {}): Form => (
  { grant_type: 'authorization_code', client_id, code, redirect_uri, code_verifier: verifier, ...more }
)

