/**
 * Who is calling. Made by authentication; what outlives a call (sessions, conversations, tasks) belongs to a
 * principal and is invisible to every other.
 */
import { isRecord } from './content.ts'
import { Fault } from './fault.ts'

/**
 * What the operator's own check knows of a caller, as an e-mail address or a tenant. A program types it by
 * `declare module 'triport' { interface Claims { readonly email: string } }`.
 */
export interface Claims { readonly [name: string]: unknown }

/** An authenticated caller, or `anonymous` where the server asks for no key. */
export interface Principal {
  /** Who it is, not which entry of a list: `key:ops`, `token:<issuer>:<subject>`. Never a credential. */
  readonly id: string
  /** What the caller may do. The `scopes` of agents, tools and so on are looked up here. */
  readonly scopes: readonly string[]
  /** Milliseconds since the epoch after which the credential counts no more. */
  readonly expiresAt?: number
  /**
   * What `auth.verify` or the `apiKey` function returned as `claims`: a frozen copy of its JSON, at most
   * 16 KiB. Not logged; kept with tasks that may run again.
   */
  readonly claims?: Claims | undefined
}

/** Every caller, where authentication is off. */
export const anonymous: Principal = Object.freeze({ id: 'anonymous', scopes: Object.freeze([]) })

/** Whether the caller has every one of the scopes. */
export function hasScopes(principal: Principal, scopes: readonly string[]): boolean {
  for (const scope of scopes) if (!principal.scopes.includes(scope)) return false
  return true
}

/** Those of a list that the caller may use. */
export function allowed<T extends { readonly scopes: readonly string[] }>(
  principal: Principal, all: readonly T[],
): readonly T[] {
  return all.filter(({ scopes }) => hasScopes(principal, scopes))
}

/** Whose principal counts, and the scopes that were needed so far. */
interface Asking { readonly principal: Principal; readonly needed?: Set<string> }

/** The scopes that a fault says are needed. An author can attach anything to one, even getters that throw. */
export function scopesIn({ kind, detail }: Fault): readonly unknown[] | undefined {
  try {
    const scopes = kind === 'forbidden' && isRecord(detail) ? detail['scopes'] : undefined
    return Array.isArray(scopes) ? [...scopes] : undefined
  } catch {
    return undefined
  }
}

/** Throws `Fault('forbidden')` with all `scopes` in its detail where the caller does not have every one. */
export function requireScopes(asking: Asking, scopes: readonly string[]): void {
  if (scopes.length === 0) return
  const { principal, needed } = asking
  for (const scope of scopes) needed?.add(scope)
  if (hasScopes(principal, scopes)) return
  const missing = scopes.filter((scope) => !principal.scopes.includes(scope))
  const sentence = `This needs the scope ${missing.join(' ')}, which the caller does not have`
  throw new Fault('forbidden', sentence, { scopes })
}
