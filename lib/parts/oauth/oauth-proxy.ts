/**
 * An authorization server for MCP clients in front of a provider where they cannot register. Its tokens are
 * its own: those of the provider never reach a client.
 */
import { mustBeHosts } from '../../floors/outbound/host.ts'
import {
  checkMembers, must, mustBeFlag, mustBeOptions, requireDefinition, requireMembers,
} from '../../kernel/define/validate.ts'
import { Unavailable } from '../../kernel/http/access/auth.ts'
import { Later } from '../../kernel/util/later.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import { isScope } from '../../kernel/wire/challenge.ts'
import { isSecureAddress } from '../../floors/outbound/secure-address.ts'
import { refuseAsOauth } from './oauth-refusal.ts'
import type { Checks, MemberCheck } from '../../kernel/define/validate.ts'
import type { Authorization } from '../../kernel/http/access/auth.ts'
import type { Endpoint } from '../../kernel/http/message/exchange.ts'
import type { Kernel } from '../../kernel/server/part.ts'
import type { OauthProxyOptions } from './oauth-provider.ts'

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const text = must(isText, 'write a string that is not empty')
const address = must(isSecureAddress, `write an https address, as in 'https://login.example.com/authorize'`)
const seconds = must((value) => Number.isSafeInteger(value) && Number(value) >= 60,
  'write a whole number of seconds, 60 or above')

const mustBeDocuments = mustBeOptions(`write true or false, or { allowedHosts: ['app.example.com'] }`, {
  allowedHosts: mustBeHosts, allowPrivate: mustBeFlag,
})
const documents: MemberCheck = (owner, value, member) => {
  if (typeof value !== 'boolean') mustBeDocuments(owner, value, member)
}

const checks: Checks<OauthProxyOptions> = {
  resource: address, authorizationEndpoint: address, tokenEndpoint: address, clientId: text,
  clientSecret: text, providerScopes: must(isStrings, `write a list, as in ['openid']`),
  parameters: must((value) => typeof value === 'object' && value !== null
    && Object.values(value).every((one) => typeof one === 'string'), `write { access_type: 'offline' }`),
  identify: must((value) => typeof value === 'function', 'write async (tokens) => ({ subject, scopes })'),
  scopes: must((value) => isStrings(value) && value.every(isScope), `write a list, as in ['orders:read']`),
  clientIdMetadataDocuments: documents, name: text, tokenSeconds: seconds, refreshSeconds: seconds,
}
const required = ['resource', 'authorizationEndpoint', 'tokenEndpoint', 'clientId', 'identify'] as const

type Flow = import('./oauth-flow.ts').OauthFlow

const flows = new Later(() => import('./oauth-flow.ts'))

interface OauthProxy {
  readonly options: OauthProxyOptions
  readonly issuer: string
  /** Makes the flow; undefined before it has a server. */
  load?: () => Promise<void> | undefined
  flow?: Flow
}

const proxies = new WeakMap<Authorization, OauthProxy>()

/**
 * Makes the `auth` of a server whose users log in at a provider where clients of MCP cannot register, such
 * as GitHub or Google. The server registers them, asks its user whether the client may come in, sends the
 * user to the provider, and gives tokens of its own. Processes share a `secret` and a `store`.
 *
 * Throws `TypeError` for options that cannot work.
 */
export function oauthProxy(options: OauthProxyOptions): Authorization {
  requireDefinition('oauthProxy', options, `{ resource: 'https://agents.example.com/mcp', … }`)
  checkMembers('oauthProxy', options, checks)
  requireMembers('oauthProxy', options, checks, required)
  const { resource, scopes, name } = options
  const proxy: OauthProxy = { options, issuer: new URL(resource).origin }
  const auth: Authorization = {
    resource, authorizationServers: [proxy.issuer], part: 'oauth',
    ...scopes !== undefined && { scopes }, ...name !== undefined && { name },
    async verify(token) {
      await proxy.load?.()
      try {
        return await proxy.flow?.verify(token)
      } catch {
        throw new Unavailable('Whether the token is good cannot be found out; try again later', 1, 'warning')
      }
    },
  }
  proxies.set(auth, proxy)
  return auth
}

/** The paths of an authorization that is a proxy. */
export function oauthEndpoints(kernel: Kernel): readonly Endpoint[] {
  const { auth } = kernel.credentials
  const proxy = auth && proxies.get(auth)
  if (proxy === undefined) return []
  const load = (): Promise<void> | undefined => {
    if (proxy.flow !== undefined) return undefined
    return Promise.resolve(flows.load()).then(() => {
      proxy.flow ??= new flows.loaded.OauthFlow(proxy.options, proxy.issuer, kernel)
    })
  }
  proxy.load = load
  const at = (
    path: string, method: 'GET' | 'POST', answer: (flow: Flow) => Endpoint['handle'], accepts?: string,
  ): Endpoint => ({
    path, methods: [method], outsideMount: true, open: 'public', refuse: refuseAsOauth, load,
    ...accepts !== undefined && { accepts: [accepts] },
    handle: (exchange) => answer(proxy.flow!)(exchange),
  })
  const form = 'application/x-www-form-urlencoded'
  return [
    at('/.well-known/oauth-authorization-server', 'GET', (flow) => flow.metadata),
    at('/oauth/register', 'POST', (flow) => flow.register, 'application/json'),
    at('/oauth/authorize', 'GET', (flow) => flow.authorize),
    at('/oauth/consent', 'POST', (flow) => flow.consent, form),
    at('/oauth/callback', 'GET', (flow) => flow.callback),
    at('/oauth/token', 'POST', (flow) => flow.token, form),
  ]
}
