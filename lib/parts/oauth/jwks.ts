/**
 * Tokens that an authorization server has signed, checked by its public keys. These are read when the first
 * token comes, kept, and read again when a token names one that is not known.
 * Spec: RFC 7519, RFC 7515, RFC 7517, RFC 7518 §3, RFC 9068, RFC 8725.
 */
import { createPublicKey, verify } from 'node:crypto'
import { checkMembers, must, requireDefinition, requireMembers } from '../../kernel/define/validate.ts'
import { decodeBase64 } from '../../kernel/wire/base64.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import { askForObject, objectIn } from '../../floors/outbound/remote-json.ts'
import { isSecureAddress } from '../../floors/outbound/secure-address.ts'
import { Unavailable } from '../../kernel/http/access/auth.ts'
import { isSameAddress } from './same-address.ts'
import type { JsonWebKey, KeyObject, VerifyKeyObjectInput } from 'node:crypto'
import type { Checks } from '../../kernel/define/validate.ts'
import type { TokenInfo } from '../../kernel/http/access/keys.ts'

/** How a token may be signed (RFC 7518 §3.1, RFC 8037). */
export type JwksAlgorithm =
  | 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA'

/** What `jwksVerifier` takes. */
export interface JwksOptions {
  /** The `iss` of every token, exactly. */
  readonly issuer: string
  /** The `aud` of every token, or several of which one must be there: mostly the `resource`. */
  readonly audience: string | readonly string[]
  /** Where the keys are. Left out: where the issuer's metadata says (OpenID Connect, RFC 8414). */
  readonly jwksUri?: string | undefined
  /** Left out: RS256, PS256, ES256, ES384 and EdDSA. */
  readonly algorithms?: readonly JwksAlgorithm[] | undefined
  /** By how much two clocks may differ, in seconds. Left out: 30. */
  readonly clockToleranceSeconds?: number | undefined
}

/** Reads a token; undefined for one that is not good. */
export type TokenVerifier = (token: string) => Promise<TokenInfo | undefined>

type Claims = Readonly<Record<string, unknown>>

/** The hash, the type of the key, and of an elliptic one its curve. */
type Signing = readonly [hash: string | null, type: string, curve?: string]

const algorithms: Readonly<Record<JwksAlgorithm, Signing>> = {
  RS256: ['sha256', 'rsa'], RS384: ['sha384', 'rsa'], RS512: ['sha512', 'rsa'],
  PS256: ['sha256', 'rsa'], PS384: ['sha384', 'rsa'], PS512: ['sha512', 'rsa'],
  ES256: ['sha256', 'ec', 'prime256v1'], ES384: ['sha384', 'ec', 'secp384r1'],
  ES512: ['sha512', 'ec', 'secp521r1'], EdDSA: [null, 'ed25519'],
}
const usual: readonly JwksAlgorithm[] = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']

/** Padding by PSS, with a salt as long as the digest: the numbers of OpenSSL. */
const PSS = { padding: 6, saltLength: -1 } as const

const MAX_TOKEN_LENGTH = 16_384
const MAX_KEYS = 100
const MIN_RSA_BITS = 2_048
const READ_TIMEOUT_MS = 5_000
/** Keys that the issuer has withdrawn are not taken for longer. */
const KEEP_MS = 10 * 60_000
/** Keys in use are read again from here on, while they still count: the issuer may be away for a while. */
const RENEW_MS = KEEP_MS / 2
/** Keys that could not be read are asked for again after this time. */
const RETRY_MS = 1_000
/** A token with an unknown key makes the keys be read again, but not more often. */
const COOL_DOWN_MS = 30_000
const MAX_TOLERANCE_S = 300

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isAlgorithm = (value: unknown): boolean => Object.hasOwn(algorithms, value as string)
const isListOf = (isFine: (value: unknown) => boolean) => (value: unknown): boolean => (
  Array.isArray(value) && value.length > 0 && value.every(isFine)
)

const address = must(isSecureAddress,
  `write an https address, as in 'https://login.example.com' (http only of this machine)`)
const checks: Checks<JwksOptions> = {
  issuer: address, jwksUri: address,
  audience: must((value) => isText(value) || isListOf(isText)(value),
    `write for whom tokens are made, as in 'https://agents.example.com/mcp'`),
  algorithms: must(isListOf(isAlgorithm), `write some of ${Object.keys(algorithms).join(', ')}`),
  clockToleranceSeconds: must((value) => (
    typeof value === 'number' && value >= 0 && value <= MAX_TOLERANCE_S
  ), `write 0 to ${MAX_TOLERANCE_S}`),
}

/**
 * Makes the `verify` of `auth` for an authorization server that signs its tokens and publishes its keys, as
 * most do. Signature, algorithm, issuer, audience and times are checked; scopes are read of `scope` or `scp`,
 * and the claims are `call.principal.claims`. While the keys cannot be read, callers get 503.
 *
 * Throws `TypeError` for options that cannot work.
 */
export function jwksVerifier(options: JwksOptions): TokenVerifier {
  requireDefinition('jwksVerifier', options, `{ issuer: 'https://login.example.com', audience: '…' }`)
  checkMembers('jwksVerifier', options, checks)
  requireMembers('jwksVerifier', options, checks, ['issuer', 'audience'])
  const { issuer, audience, algorithms: allowed = usual, clockToleranceSeconds = 30 } = options
  const audiences = [audience].flat()
  const keys = new IssuerKeys(issuer, options.jwksUri)

  return async (token) => {
    const parts = token.length > MAX_TOKEN_LENGTH ? [] : token.split('.')
    if (parts.length !== 3) return undefined
    const [head = '', body = '', signed = ''] = parts
    const header = jsonIn(head)
    const claims = jsonIn(body)
    const signature = decodeBase64(signed, 'base64url')
    if (header === undefined || claims === undefined || signature === undefined) return undefined
    const { alg, kid, crit, typ } = header
    const algorithm = allowed.find((one) => one === alg)
    if (algorithm === undefined || crit !== undefined || !isTokenType(typ)) return undefined
    if (kid !== undefined && typeof kid !== 'string') return undefined
    // Before any key is looked for: what is not for this server costs nothing.
    const info = infoOf(claims, issuer, audiences, clockToleranceSeconds)
    if (info === undefined) return undefined
    const data = Buffer.from(`${head}.${body}`)
    for (const key of await keys.find(algorithm, kid)) {
      if (verify(algorithms[algorithm][0], data, inputOf(key, algorithm), signature)) return info
    }
    return undefined
  }
}

/** Tokens for other purposes have a type of their own (RFC 8725 §3.11). */
function isTokenType(typ: unknown): boolean {
  return typ === undefined || (typeof typ === 'string' && /^(?:application\/)?(?:at\+)?jwt$/i.test(typ))
}

function infoOf(
  claims: Claims, issuer: string, audiences: readonly string[], toleranceSeconds: number,
): TokenInfo | undefined {
  const { iss, aud, sub, exp, nbf = 0, iat = 0, scope, scp } = claims
  const now = Date.now() / 1_000
  if (!isSameAddress(iss, issuer) || typeof sub !== 'string' || sub === '') return undefined
  const named = typeof aud === 'string' ? [aud] : aud
  if (!isStrings(named)) return undefined
  if (!named.some((one) => audiences.some((own) => isSameAddress(one, own)))) return undefined
  // JSON has numbers that are read as infinite.
  if (!isFiniteNumber(exp) || !isFiniteNumber(nbf) || !isFiniteNumber(iat)) return undefined
  if (exp + toleranceSeconds <= now || Math.max(nbf, iat) - toleranceSeconds > now) return undefined
  const scopes = scope ?? scp
  const held = typeof scopes === 'string' ? scopes.split(' ').filter((one) => one !== '') : scopes
  return {
    subject: sub, issuer, scopes: isStrings(held) ? held : [],
    // Within the tolerance it is still good.
    expiresAt: (exp + toleranceSeconds) * 1_000, claims,
  }
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

function jsonIn(part: string): Claims | undefined {
  const bytes = decodeBase64(part, 'base64url')
  return bytes === undefined ? undefined : objectIn(Buffer.from(bytes).toString())
}

function inputOf(key: KeyObject, algorithm: JwksAlgorithm): VerifyKeyObjectInput {
  if (algorithm.startsWith('PS')) {
    return { key, ...PSS }
  }
  return algorithm.startsWith('ES') ? { key, dsaEncoding: 'ieee-p1363' } : { key }
}

interface IssuerKey { readonly kid: unknown; readonly alg: unknown; readonly key: KeyObject }

class IssuerKeys {
  readonly #issuer: string
  readonly #givenUri: string | undefined
  #uri: string | undefined
  #keys: readonly IssuerKey[] = []
  /** Monotonic milliseconds; keys that were never read are as old as can be. */
  #readAt = -Infinity
  #triedAt = -Infinity
  #reading: Promise<void> | undefined

  constructor(issuer: string, uri: string | undefined) {
    this.#issuer = issuer
    this.#uri = this.#givenUri = uri
  }

  /** Rejects with `Unavailable` where there are none and they cannot be read. */
  async find(algorithm: JwksAlgorithm, kid: unknown): Promise<readonly KeyObject[]> {
    const now = performance.now()
    const age = now - this.#readAt
    const isOld = age > KEEP_MS
    const isUnknown = !isOld && this.#matching(algorithm, kid).length === 0
    if (now - this.#triedAt > (isOld ? RETRY_MS : COOL_DOWN_MS) && (age > RENEW_MS || isUnknown)) {
      this.#reading ??= this.#read().finally(() => { this.#reading = undefined })
    }
    // Others that come while the keys are read wait for them.
    if (isOld || isUnknown) await this.#reading
    if (performance.now() - this.#readAt > KEEP_MS) {
      throw new Unavailable('The keys of the issuer cannot be read; try again later', 5, 'warning')
    }
    return this.#matching(algorithm, kid)
  }

  #matching(algorithm: JwksAlgorithm, kid: unknown): readonly KeyObject[] {
    const [, type, curve] = algorithms[algorithm]
    return this.#keys.flatMap(({ key, kid: id, alg }) => {
      const isNamed = kid === undefined || id === undefined || id === kid
      const { asymmetricKeyType, asymmetricKeyDetails } = key
      const isFit = asymmetricKeyType === type && asymmetricKeyDetails?.namedCurve === curve
      return isNamed && isFit && (alg === undefined || alg === algorithm) ? [key] : []
    })
  }

  /** Never rejects: without new keys the old ones count until they are too old. */
  async #read(): Promise<void> {
    this.#triedAt = performance.now()
    try {
      this.#uri ??= await this.#discover()
      const { keys } = await documentAt(this.#uri)
      if (!Array.isArray(keys)) throw new Error('There are no keys')
      this.#keys = keys.slice(0, MAX_KEYS).flatMap(keyOf)
      this.#readAt = performance.now()
    } catch {
      // The caller gets 503, and the next token tries again. The keys may have moved.
      this.#uri = this.#givenUri
    }
  }

  /** Where the issuer's metadata says that its keys are. */
  async #discover(): Promise<string> {
    const { origin, pathname, protocol } = new URL(this.#issuer)
    const path = pathname.replace(/\/$/, '')
    const places = [
      `${origin}${path}/.well-known/openid-configuration`,
      `${origin}/.well-known/oauth-authorization-server${path}`,
    ]
    for (const place of places) {
      const { issuer, jwks_uri: uri } = await documentAt(place).catch((): Claims => ({}))
      // The metadata of another issuer must not be taken for that of this one (RFC 8414 §3.3).
      if (!isSameAddress(issuer, this.#issuer) || !isSecureAddress(uri)) continue
      // One that is elsewhere must not have this machine ask itself.
      if ([protocol, 'https:'].includes(new URL(uri).protocol)) return uri
    }
    throw new Error('The issuer has no metadata that names its keys')
  }
}

/** Keys of other kinds, those that are not to sign with, and those that are no secret are passed over. */
function keyOf(jwk: unknown): readonly IssuerKey[] {
  if (typeof jwk !== 'object' || jwk === null) return []
  const { kid, alg, use, d, key_ops: operations } = jwk as Claims
  if ((use !== undefined && use !== 'sig') || d !== undefined) return []
  if (operations !== undefined && !(isStrings(operations) && operations.includes('verify'))) return []
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
    const bits = key.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS
    return bits < MIN_RSA_BITS ? [] : [{ kid, alg, key }]
  } catch {
    return []
  }
}

/** Rejects where there is none. */
async function documentAt(url: string): Promise<Claims> {
  const { status, object } = await askForObject(url, READ_TIMEOUT_MS)
  if (status !== 200 || object === undefined) throw new Error(`There is no JSON object: ${status}`)
  return object
}
