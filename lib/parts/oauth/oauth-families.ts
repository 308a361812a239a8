/**
 * What comes of one login: its code, and the access and refresh tokens after it, which are a family. The
 * store has one entry for it, with the user, and while that is there they are good; the tokens themselves are
 * sealed names of the entry. The code is used in turn 0, and each refresh token in the next: one of an
 * earlier turn was used before, and ends the family, in all processes.
 * Spec: RFC 9700 §2.2.2, §4.14.2; OAuth 2.1 §4.1.3, §4.3, §7.5.3.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { storeOf } from '../../floors/memory/store-of.ts'
import { isAnything, isText, optional, recordOf, warnOfUnreadable } from '../../floors/shared/stored-value.ts'
import { andThen } from '../../kernel/util/thenable.ts'
import { parseScope } from '../../kernel/wire/challenge.ts'
import { isStrings } from '../../kernel/wire/json.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { OauthRefusal } from './oauth-refusal.ts'
import { digest } from './oauth-secrets.ts'
import type { TokenInfo } from '../../kernel/http/access/keys.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { StoreKey } from '../../kernel/store/store.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Seal } from '../../kernel/wire/seal.ts'
import type { OauthProvider, OauthProxyOptions } from './oauth-provider.ts'

/** What a client asks for, from its authorization request to its tokens. */
export interface OauthGrant {
  /** The digest of its id, which is long, and the grant stands in addresses. */
  readonly client: string
  readonly redirectUri: string
  readonly challenge: string
  readonly scope: string | undefined
}

/** What a code or a refresh token is used for. */
export interface OauthUse {
  readonly kind: 'code' | 'refresh'
  readonly secret: string
  /** Whether it was given for this request. */
  readonly isFor: (grant: OauthGrant) => boolean
  /** Empty: all that was granted. */
  readonly scopes: readonly string[]
}

export interface OauthTokens {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly scopes: readonly string[]
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

interface Family {
  readonly grant: OauthGrant
  readonly user: TokenInfo
  /** The provider's, with which the user is looked at again. */
  readonly refreshToken: string | undefined
  readonly turn: number
  readonly turnedAt: number
  /** How long the code or the refresh token of this turn is good. */
  readonly until: number
  /** One request asks the provider, and others wait, at most until then. */
  readonly claimedUntil?: number | undefined
}

type FamilyName = readonly [owner: string, key: string]

interface HeldFamily { readonly name: FamilyName; readonly family: Family; readonly version: number }

const isFamily = recordOf<Family>({
  grant: recordOf<OauthGrant>({
    client: isText, redirectUri: isText, challenge: isText, scope: optional(isText),
  }),
  user: recordOf<TokenInfo>({
    subject: isText, issuer: isAnything, scopes: optional(isStrings), scope: isAnything,
    expiresAt: isAnything, claims: isAnything,
  }),
  refreshToken: optional(isText), turn: Number.isFinite, turnedAt: Number.isFinite, until: Number.isFinite,
  claimedUntil: optional(Number.isFinite),
})

/** What a code or a refresh token says. */
interface Turn { readonly name: FamilyName; readonly turn: number }

/** What an access token says. */
interface Access { readonly name: FamilyName; readonly scopes: readonly string[]; readonly expiresAt: number }

const COLLECTION = 'oauth'
const CODE_MS = 60_000
/** For so long the last code or refresh token may be sent again: its answer may have been lost. */
const GRACE_MS = 10_000
/** Above what the provider may take, for the store. */
const CLAIM_MORE_MS = 5_000
const LOOK_MS = 100
const TOKEN_S = 3_600
const REFRESH_S = 30 * 86_400

export class OauthFamilies {
  readonly #options: OauthProxyOptions
  readonly #provider: OauthProvider
  readonly #service: Service
  readonly #seal: Seal
  readonly #tokenMs: number
  readonly #refreshMs: number

  constructor(options: OauthProxyOptions, provider: OauthProvider, service: Service, seal: Seal) {
    this.#options = options
    this.#provider = provider
    this.#service = service
    this.#seal = seal
    this.#tokenMs = (options.tokenSeconds ?? TOKEN_S) * 1_000
    this.#refreshMs = (options.refreshSeconds ?? REFRESH_S) * 1_000
  }

  /** Begins one, and answers its code. Throws `OauthRefusal` where the user has nothing of what was asked. */
  async begin(grant: OauthGrant, user: TokenInfo, refreshToken: string | undefined): Promise<string> {
    if (!hasScopes(user, grant)) {
      throw new OauthRefusal('invalid_scope', 'The user has none of the scopes that were asked for')
    }
    // The user owns it: one who logs in again and again pushes out nobody else's.
    const name: FamilyName = [digest(user.subject), randomUuid()]
    const now = Date.now()
    const family: Family = { grant, user, refreshToken, turn: 0, turnedAt: now, until: now + CODE_MS }
    await this.#write(name, family, 0)
    return this.#secretOf('code', name, 0)
  }

  /** The tokens of a code or a refresh token. Rejects with `OauthRefusal`, and then has used up nothing. */
  async use(use: OauthUse): Promise<OauthTokens> {
    const used = this.#seal.open(`oauth ${use.kind}`, use.secret) as Turn | undefined
    if (used === undefined) throw unknownSecret()
    const claimMs = this.#provider.maxMs + CLAIM_MORE_MS
    const giveUpAt = Date.now() + claimMs
    for (;;) {
      const held = await this.#read(used.name)
      if (held === undefined) throw unknownSecret()
      const { name, family, version } = held
      if (!use.isFor(family.grant)) throw refusedGrant('The code or token was given for another request')
      requireScopes(family.user, family.grant, use.scopes)
      const now = Date.now()
      const age = family.turn - used.turn
      if (age === 1 && now < family.turnedAt + GRACE_MS) return this.#tokensFor(name, family, use.scopes)
      if (age > 0) {
        await this.#end(name)
        this.#service.log('warning', 'A login has ended: a code or token of it was used a second time')
        throw unknownSecret()
      }
      if (family.until <= now) throw unknownSecret()
      if (use.kind === 'code') return this.#advance(held, use.scopes)
      if ((family.claimedUntil ?? 0) > now) {
        if (now >= giveUpAt) throw new OauthRefusal('temporarily_unavailable', 'Try again later', 503)
        await pause(LOOK_MS)
        continue
      }
      const claimed = await this.#write(name, { ...family, claimedUntil: now + claimMs }, version)
      // Where another was faster, its turn is looked at.
      if (claimed !== undefined) return this.#refresh({ name, family, version: claimed }, use.scopes)
    }
  }

  /** The user is looked at again: who is no user of the provider's any more is none here. */
  async #refresh({ name, family, version }: HeldFamily, wanted: readonly string[]): Promise<OauthTokens> {
    let next = family
    try {
      const { tokens, refreshToken } = await this.#provider.refreshed(family.refreshToken ?? '')
      if (refreshToken !== undefined) next = { ...next, refreshToken }
      const user = await this.#provider.userOf(tokens)
      if (user === undefined || !hasScopes(user, family.grant)) {
        throw refusedGrant('The user is not let in any more')
      }
      next = { ...next, user }
      requireScopes(user, family.grant, wanted)
    } catch (error) {
      if (error instanceof OauthRefusal && error.code === 'invalid_grant') await this.#end(name)
      // A provider that is away for a while must not log the user out.
      else await this.#write(name, next, version)
      throw error
    }
    return this.#advance({ name, family: next, version }, wanted)
  }

  /** The next turn. Of two requests at the same time one gets it; where the family has ended, none. */
  async #advance({ name, family, version }: HeldFamily, wanted: readonly string[]): Promise<OauthTokens> {
    const now = Date.now()
    const next: Family = { ...family, turn: family.turn + 1, turnedAt: now, until: now + this.#refreshMs }
    if (await this.#write(name, next, version) === undefined) throw unknownSecret()
    return this.#tokensFor(name, next, wanted)
  }

  /** Who an access token speaks for; undefined also where its family has ended. */
  verify(token: string): MaybePromise<TokenInfo | undefined> {
    const access = this.#seal.open('oauth access', token, this.#options.resource) as Access | undefined
    if (access === undefined) return undefined
    return andThen(this.#read(access.name), (held) => {
      if (held === undefined) return undefined
      const { user } = held.family
      const has = grantedTo(user)
      // What the user has lost meanwhile is lost for the tokens that are out.
      const scopes = access.scopes.filter((one) => has.includes(one))
      return { ...user, scopes, scope: undefined, expiresAt: access.expiresAt }
    })
  }

  #tokensFor(name: FamilyName, family: Family, wanted: readonly string[]): OauthTokens {
    const { user, grant, turn, refreshToken } = family
    const scopes = grantedTo(user, parseScope(grant.scope ?? ''), wanted)
    const expiresAt = Math.min(Date.now() + this.#tokenMs, user.expiresAt ?? Infinity)
    const access: Access = { name, scopes, expiresAt }
    return {
      accessToken: this.#seal.seal('oauth access', access, expiresAt, this.#options.resource),
      // Without one of the provider's its user could not be looked at again.
      refreshToken: refreshToken === undefined ? undefined : this.#secretOf('refresh', name, turn),
      scopes, expiresAt,
    }
  }

  /** It is good for as long as its family says: an old one must still be known as such. */
  #secretOf(kind: OauthUse['kind'], name: FamilyName, turn: number): string {
    const said: Turn = { name, turn }
    return this.#seal.seal(`oauth ${kind}`, said, Infinity)
  }

  #read(name: FamilyName): MaybePromise<HeldFamily | undefined> {
    const { log } = this.#service
    return andThen(storeOf(this.#service).read(keyOf(name)), (entry) => {
      if (entry === undefined) return undefined
      const family = this.#seal.open('oauth family', entry.value, name[1])
      if (!isFamily(family)) return void warnOfUnreadable(COLLECTION, entry, log)
      return { name, family, version: entry.version }
    })
  }

  #write(name: FamilyName, family: Family, version: number): MaybePromise<number | undefined> {
    const lastMs = family.refreshToken === undefined ? this.#tokenMs
      : Math.max(this.#tokenMs, this.#refreshMs)
    const keepMs = family.turn === 0 ? CODE_MS : lastMs
    const value = this.#seal.seal('oauth family', family, Date.now() + keepMs, name[1])
    return storeOf(this.#service).write(keyOf(name), value, keepMs, version)
  }

  #end(name: FamilyName): MaybePromise<boolean> {
    return storeOf(this.#service).remove(keyOf(name), 'any')
  }
}

function keyOf([owner, key]: FamilyName): StoreKey {
  return { collection: COLLECTION, owner, key }
}

function refusedGrant(message: string): OauthRefusal {
  return new OauthRefusal('invalid_grant', message)
}

function unknownSecret(): OauthRefusal {
  return refusedGrant('The code or token is not known, was used, or is too old')
}

/** Whether something is left of what the client asked for. */
function hasScopes(user: TokenInfo, { scope = '' }: OauthGrant): boolean {
  const asked = parseScope(scope)
  return asked.length === 0 || grantedTo(user, asked).length > 0
}

/** Throws where the client wants what was not granted. */
function requireScopes(user: TokenInfo, { scope = '' }: OauthGrant, wanted: readonly string[]): void {
  const granted = grantedTo(user, parseScope(scope))
  if (wanted.every((one) => granted.includes(one))) return
  throw new OauthRefusal('invalid_scope', 'A scope was not granted; ask for what was, or leave scope out')
}

/** What a user may do, as far as it was asked for; a list that is empty asks for all. */
function grantedTo({ scopes, scope = '' }: TokenInfo, ...asked: (readonly string[])[]): readonly string[] {
  const has = [...new Set(scopes ?? parseScope(scope))]
  return has.filter((one) => asked.every((list) => list.length === 0 || list.includes(one)))
}
