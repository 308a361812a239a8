/**
 * Signatures of agent cards: the members of a card of 1.0 and a key in, a signature out. The operator
 * publishes the public key.
 * Spec: A2A 1.0 §8.4; RFC 7515, RFC 7518 §3.4, RFC 7638.
 */
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { isKeyObject } from 'node:util/types'
import { isRecord } from '../../../kernel/define/content.ts'
import { rejectUnknown } from '../../../kernel/define/validate.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { formatCanonicalJson } from './canonical-json.ts'
import type { JsonWebKey, KeyObject } from 'node:crypto'
import type { CardSignature, JsonMembers } from './model.ts'

/** An ES256 private key (P-256): PEM text, a JWK, or what `node:crypto` made. */
export type PrivateKey = string | JsonWebKey | KeyObject

/** A key, or a key with its names. */
export type SigningKey = PrivateKey | {
  readonly key: PrivateKey
  /** What verifiers call it. Left out: the JWK's own `kid`, else its thumbprint (RFC 7638). */
  readonly kid?: string
  /** Where the public key is found, in a JWK Set. */
  readonly jku?: string
}

/** Signs the members of a card of 1.0. */
export type Signer = (card: JsonMembers) => CardSignature

const REMEDY = 'write the PEM text or the JWK of an EC private key of the curve P-256'

/** Makes the signer of a `SigningKey`. Throws `TypeError` for what is none, without showing any of it. */
export function signerOf(given: unknown): Signer {
  const isNamed = isRecord(given) && !isKeyObject(given) && 'key' in given
  if (isNamed) rejectUnknown('a2a.signingKey', given, ['key', 'kid', 'jku'])
  const { key, kid, jku } = isNamed ? given : { key: given }
  const isKid = kid === undefined || (typeof kid === 'string' && kid !== '')
  if (!isKid) throw new TypeError('a2a.signingKey.kid is no text; write what verifiers call the key')
  if (jku !== undefined && !(typeof jku === 'string' && URL.canParse(jku))) {
    throw new TypeError('a2a.signingKey.jku is no address; write where the public key is found')
  }
  const privateKey = privateKeyOf(key)
  const ownKid = isRecord(key) && typeof key['kid'] === 'string' ? key['kid'] : undefined
  const header = { alg: 'ES256', typ: 'JOSE', kid: kid ?? ownKid ?? thumbprint(privateKey), jku }
  const head = encode(formatJson(header))
  return (card) => {
    const input = Buffer.from(`${head}.${encode(formatSigned(card))}`)
    const signature = sign('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    return { protected: head, signature: signature.toString('base64url') }
  }
}

function privateKeyOf(key: unknown): KeyObject {
  let made: KeyObject | undefined
  try {
    made = isKeyObject(key) ? key
      : typeof key === 'string' ? createPrivateKey(key)
      : isRecord(key) ? createPrivateKey({ key, format: 'jwk' }) : undefined
  } catch {
    // An error of node:crypto may show some of the key.
  }
  if (made?.type === 'private' && isP256(made)) return made
  throw new TypeError(`a2a.signingKey is no ES256 private key; ${REMEDY}`)
}

function isP256({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
}

function thumbprint(privateKey: KeyObject): string {
  const { crv, kty, x, y } = createPublicKey(privateKey).export({ format: 'jwk' })
  return createHash('sha256').update(formatCanonicalJson({ crv, kty, x, y })).digest('base64url')
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/**
 * The text that is signed, §8.4.1. Of members that hold the default of their type, which are not signed, a
 * card is written with one alone: the list of a scheme that asks for no scopes.
 */
export function formatSigned(card: JsonMembers): string {
  // As it is sent.
  const { signatures: _, securityRequirements, ...members } = JSON.parse(formatJson(card)) as JsonMembers
  const requirements = formatJson(securityRequirements ?? []) ?? ''
  const signed: unknown = JSON.parse(requirements, (_name, value: unknown) => (
    Array.isArray(value) && value.length === 0 ? undefined : value
  ))
  return formatCanonicalJson({ ...members, securityRequirements: signed })
}
