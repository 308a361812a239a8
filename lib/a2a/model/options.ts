/**
 * The options of the A2A door, most of them for its card, and their checks. What a value becomes in a card is
 * not known here.
 */
import { requireSkills } from '../../define/agent.ts'
import { isRecord } from '../../define/content.ts'
import { isPlain, rejectUnknown, requireTexts, show } from '../../define/validate.ts'
import { formatCanonicalJson } from '../../wire/json.ts'
import { pushSettingsOf } from './push-address.ts'
import { signerOf } from './signature.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Agent, Group, Skill } from '../../define/agent.ts'
import type { Members } from '../../define/validate.ts'
import type { Principal } from '../../define/principal.ts'
import type { Authorization } from '../../http/access/auth.ts'
import type { CardExtension } from './model.ts'
import type { PushOptions } from './push-address.ts'
import type { SigningKey } from './signature.ts'

/** What the extended card of an agent has besides, or in the place of, what its public one says. */
export interface ExtendedCard {
  readonly name?: string
  readonly description?: string
  readonly documentationUrl?: string
  readonly iconUrl?: string
  /** Stand behind those of the public card, or in the place of one with the same id. */
  readonly skills?: readonly Skill[]
  /** Media types. */
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
}

/**
 * Says what more a caller may know of an agent or a group, which is told by its `id`. Nothing: this caller
 * gets no extended card of it.
 */
export type ExtendedCardOf = (
  principal: Principal, agent: Agent | Group,
) => MaybePromise<ExtendedCard | undefined | null>

/** What only the A2A door needs to know. */
export interface A2aServerOptions {
  /**
   * What every client finds in a card: `hybrid` (default), the members of all versions at once, and of 1.0
   * alone for clients that ask for 1.0; or those of one version for everybody.
   */
  readonly card?: 'hybrid' | '1.0' | '0.3' | undefined
  /** Who answers for the agents. */
  readonly provider?: { readonly organization: string; readonly url: string } | undefined
  /** Where people can read about the agents. An address, http or https, as the next. */
  readonly documentationUrl?: string | undefined
  /** A picture of them. */
  readonly iconUrl?: string | undefined
  /** Extensions of the protocol that the agents offer, or insist on. */
  readonly extensions?: readonly CardExtension[] | undefined
  /** An ES256 private key: cards of 1.0 are signed with it. Left out: they are not signed. */
  readonly signingKey?: SigningKey | undefined
  /**
   * What authenticated callers find in the extended card: of the root where it is an object, of everybody
   * where it is a function. Needs `apiKey` or `auth`. Left out: there is no extended card.
   */
  readonly extendedCard?: ExtendedCard | ExtendedCardOf | undefined
  /** Tenants that requests may be for. The card has the addresses of each; 1.0 only. */
  readonly tenants?: readonly string[] | undefined
  /** Whether events of tasks are posted to addresses that clients name, and to which. Left out: not. */
  readonly pushNotifications?: boolean | PushOptions | undefined
}

/** What the door is told: its options, and how callers are let in. */
export interface A2aOptions extends A2aServerOptions {
  readonly auth?: Authorization | undefined
  /** Whether a key lets a caller in; one may be made when the server listens. */
  readonly takesKeys: () => boolean
}

type Check = (value: unknown) => boolean

const optionMembers: Members<A2aServerOptions> = {
  card: true, provider: true, documentationUrl: true, iconUrl: true, extensions: true, signingKey: true,
  extendedCard: true, tenants: true, pushNotifications: true,
}

const providerMembers: Members<NonNullable<A2aServerOptions['provider']>> = { organization: true, url: true }

const extensionMembers: Members<CardExtension> = {
  uri: true, description: true, required: true, params: true,
}

const extendedMembers: Members<ExtendedCard> = {
  name: true, description: true, documentationUrl: true, iconUrl: true, skills: true, inputModes: true,
  outputModes: true,
}

const ADDRESS = `write an address, as in 'https://example.com/agents'`
const TEXT = 'write a string that is not empty'
const BOOLEAN = 'write true or false'

/** Longest name of a tenant, in bytes. */
const MAX_TENANT_BYTES = 256

const isText: Check = (value) => typeof value === 'string' && value !== ''
const isBoolean: Check = (value) => typeof value === 'boolean'
const isAddress: Check = (value) => {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value)
}
// It stands in a header, between commas.
const isUri: Check = (value) => {
  return typeof value === 'string' && /^[\x21-\x2b\x2d-\x7e]+$/.test(value) && URL.canParse(value)
}

/** Throws `TypeError` for what can be no option of this door. Nothing of a key is shown. */
export function checkA2aOptions(options: Readonly<Record<string, unknown>>): void {
  rejectUnknown('a2a', options, Object.keys(optionMembers))
  const { card, provider, extensions, signingKey, extendedCard, tenants } = options
  demand('a2a.card', card, (value) => ['hybrid', '1.0', '0.3'].some((one) => one === value),
    `write 'hybrid', '1.0' or '0.3'`)
  demand('a2a.documentationUrl', options['documentationUrl'], isAddress, ADDRESS)
  demand('a2a.iconUrl', options['iconUrl'], isAddress, ADDRESS)
  pushSettingsOf(options['pushNotifications'])
  if (provider !== undefined) checkProvider(provider)
  if (extensions !== undefined) checkExtensions(extensions)
  if (signingKey !== undefined) signerOf(signingKey)
  if (extendedCard !== undefined && typeof extendedCard !== 'function') {
    checkExtendedCard('a2a.extendedCard', extendedCard)
  }
  if (tenants !== undefined) checkTenants(tenants)
}

/** Throws `TypeError` for what can be no extended card; `owner` begins the sentence. */
export function checkExtendedCard(owner: string, card: unknown): asserts card is ExtendedCard {
  if (!isRecord(card)) {
    throw new TypeError(`${owner} is ${show(card)}; write { description: 'All that it can do.', skills: [] }`)
  }
  if (isPlain(card)) rejectUnknown(owner, card, Object.keys(extendedMembers))
  demand(`${owner}.name`, card['name'], isText, TEXT)
  demand(`${owner}.description`, card['description'], isText, TEXT)
  demand(`${owner}.documentationUrl`, card['documentationUrl'], isAddress, ADDRESS)
  demand(`${owner}.iconUrl`, card['iconUrl'], isAddress, ADDRESS)
  requireTexts(owner, 'inputModes', card['inputModes'], `['text/plain']`)
  requireTexts(owner, 'outputModes', card['outputModes'], `['text/plain']`)
  requireSkills(owner, owner, card['skills'])
}

/**
 * Throws `TypeError` where a tenant, which is the first segment of paths of its own, is called like the first
 * segment of another path.
 */
export function requireTenantPaths(tenants: readonly string[], paths: readonly string[]): void {
  const segments = new Set(paths.map((path) => path.split('/')[1]!))
  const taken = tenants.find((tenant) => segments.has(tenant))
  if (taken === undefined) return
  throw new TypeError(`a2a.tenants has ${show(taken)}, and /${taken} is a path already; choose another name`)
}

function demand(name: string, value: unknown, isFine: Check, remedy: string): void {
  if (value !== undefined && !isFine(value)) throw new TypeError(`${name} is ${show(value)}; ${remedy}`)
}

function checkProvider(provider: unknown): void {
  if (!isRecord(provider) || !isText(provider['organization']) || !isAddress(provider['url'])) {
    throw new TypeError(`a2a.provider needs an organization and a url; `
      + `write { organization: 'Example', url: 'https://example.com' }`)
  }
  rejectUnknown('a2a.provider', provider, Object.keys(providerMembers))
}

function checkExtensions(extensions: unknown): void {
  const list: readonly unknown[] = Array.isArray(extensions) ? extensions : [extensions]
  const seen = new Set<unknown>()
  for (const one of list) {
    if (!isRecord(one) || !isUri(one['uri'])) {
      throw new TypeError(`a2a.extensions needs the uri of each: an address in visible ASCII without commas; `
        + `write [{ uri: 'https://example.com/extensions/geo/v1' }]`)
    }
    const { uri, description, required, params } = one
    const owner = `a2a.extensions ${show(uri)}`
    rejectUnknown(owner, one, Object.keys(extensionMembers))
    demand(`${owner}: description`, description, isText, TEXT)
    demand(`${owner}: required`, required, isBoolean, BOOLEAN)
    demand(`${owner}: params`, params, isJsonObject, 'write an object of JSON values')
    if (seen.has(uri)) throw new TypeError(`${owner} is there twice; leave one of them out`)
    seen.add(uri)
  }
  if (!Array.isArray(extensions)) {
    throw new TypeError(`a2a.extensions is ${show(extensions)}; write a list, as in [{ uri }]`)
  }
}

function isJsonObject(value: unknown): boolean {
  try {
    return isRecord(value) && formatCanonicalJson(value) !== ''
  } catch {
    return false
  }
}

function checkTenants(tenants: unknown): void {
  if (!Array.isArray(tenants)) {
    throw new TypeError(`a2a.tenants is ${show(tenants)}; write a list, as in ['acme']`)
  }
  for (const [index, tenant] of tenants.entries()) {
    if (!isTenant(tenant)) {
      throw new TypeError(`a2a.tenants has ${show(tenant)}; write names of 1 to ${MAX_TENANT_BYTES} bytes `
        + `without / and \\, as in ['acme']`)
    }
    if (tenants.indexOf(tenant) !== index) {
      throw new TypeError(`a2a.tenants has ${show(tenant)} twice; leave one of them out`)
    }
  }
}

function isTenant(tenant: unknown): tenant is string {
  return typeof tenant === 'string' && tenant !== '' && tenant !== '.' && tenant !== '..'
    && !/[/\\\p{Cc}\p{Cs}]/u.test(tenant) && Buffer.byteLength(tenant) <= MAX_TENANT_BYTES
}
