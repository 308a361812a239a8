/**
 * Small states that travel through a client and come back: cursors, event ids, the state of a call between
 * two rounds. The client can neither read nor change them, nor use one as another.
 *
 * A JSON value and an expiry go in, base64url text comes out: key id (8), nonce (12), ciphertext, tag (16).
 * AES-256-GCM; one key per secret and purpose, by HKDF with SHA-256; the nonce is random, which is good for
 * 2³² seals under one key. Spec: NIST SP 800-38D, RFC 5869.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { decodeBase64 } from './base64.ts'
import { formatJson } from './json.ts'

export interface Seal {
  /** Whether its secret was made here, so that nothing opens in another process. */
  readonly isOwn: boolean
  /**
   * Seals a JSON value until `expiresAt` (milliseconds since the epoch; `Infinity` for ever). `purpose` is a
   * constant word, such as 'cursor'. It opens only with the same `bound`, which does not travel. Throws
   * `TypeError` for what JSON cannot represent and for an expiry that is no number.
   */
  seal(purpose: string, value: unknown, expiresAt: number, bound?: string): string
  /** What was sealed; undefined for anything that is not exactly that, or has expired. Never throws. */
  open(purpose: string, text: string, bound?: string): unknown | undefined
}

const CIPHER = 'aes-256-gcm'
const ID = 8
const NONCE = 12
const TAG = 16
/** The expiry, as a double before the JSON. */
const EXPIRY = 8
const MIN_SECRET = 16

/**
 * A seal by one secret or several: the first seals, all open, so that a new one can be put in front while
 * the old one still opens what it sealed. Left out: random, so nothing opens in another process. `service`
 * is the name of who seals: services of other names with the same secret open nothing of it.
 *
 * Throws `TypeError` for an empty list and for a secret of fewer than 16 characters.
 */
export function createSeal(secret: string | readonly string[] | undefined, service = ''): Seal {
  const secrets = secret === undefined ? undefined : [secret].flat().map(checked)
  if (secrets?.length === 0) {
    throw new TypeError(`secret is an empty list; write ['new secret', 'old secret'], or leave it out`)
  }
  let made: readonly [Ring, ...Ring[]] | undefined
  // When something is first sealed or opened, which is after the first answer.
  const rings = (): readonly [Ring, ...Ring[]] => {
    if (made !== undefined) return made
    const [first = randomBytes(32).toString('base64'), ...others] = secrets ?? []
    return made = [createRing(first, service), ...others.map((one) => createRing(one, service))]
  }

  return {
    isOwn: secret === undefined,

    seal(purpose, value, expiresAt, bound) {
      const json: string | undefined = formatJson(value)
      if (json === undefined) throw new TypeError(`Cannot seal ${typeof value}: JSON cannot represent it`)
      if (Number.isNaN(expiresAt)) {
        throw new TypeError('Cannot seal until NaN; write milliseconds since the epoch')
      }
      const expiry = Buffer.alloc(EXPIRY)
      expiry.writeDoubleBE(expiresAt)
      const nonce = randomBytes(NONCE)
      const [first] = rings()
      const cipher = createCipheriv(CIPHER, first.key(purpose), nonce, { authTagLength: TAG })
      if (bound !== undefined) cipher.setAAD(Buffer.from(bound))
      return Buffer.concat([
        first.id, nonce,
        cipher.update(expiry), cipher.update(json, 'utf8'), cipher.final(),
        cipher.getAuthTag(),
      ]).toString('base64url')
    },

    open(purpose, text, bound) {
      const bytes = decodeBase64(text, 'base64url')
      if (bytes === undefined || bytes.length <= ID + NONCE + EXPIRY + TAG) return undefined
      const ring = rings().find(({ id }) => id.equals(bytes.subarray(0, ID)))
      const plain = ring && decrypt(ring.key(purpose), bytes.subarray(ID), bound)
      if (plain === undefined || !(plain.readDoubleBE() > Date.now())) return undefined
      const value: unknown = JSON.parse(plain.toString('utf8', EXPIRY))
      return value
    },
  }
}

/** Nonce, ciphertext and tag to the plain bytes; undefined where the tag does not fit. */
function decrypt(key: Uint8Array, sealed: Uint8Array, bound: string | undefined): Buffer | undefined {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE), { authTagLength: TAG })
  decipher.setAuthTag(sealed.subarray(-TAG))
  if (bound !== undefined) decipher.setAAD(Buffer.from(bound))
  const plain = decipher.update(sealed.subarray(NONCE, -TAG))
  try {
    decipher.final()
  } catch {
    return undefined
  }
  return plain
}

/** What is made of one secret: the id that travels, and a key for each purpose. */
interface Ring {
  readonly id: Buffer
  key(purpose: string): Uint8Array
}

function createRing(secret: string, service: string): Ring {
  const derive = (label: string, length: number): Buffer => {
    return Buffer.from(hkdfSync('sha256', secret, service, label, length))
  }
  const keys = new Map<string, Uint8Array>()
  return {
    id: derive('triport key id', ID),
    key(purpose) {
      let key = keys.get(purpose)
      if (key === undefined) keys.set(purpose, key = derive(`triport seal ${purpose}`, 32))
      return key
    },
  }
}

function checked(secret: unknown): string {
  if (typeof secret === 'string' && secret.length >= MIN_SECRET) return secret
  const what = typeof secret === 'string' ? `${secret.length} characters` : `type ${typeof secret}`
  throw new TypeError(`A secret of ${what} cannot seal anything; write at least ${MIN_SECRET} random `
    + `characters, as 'openssl rand -base64 32' prints them`)
}
