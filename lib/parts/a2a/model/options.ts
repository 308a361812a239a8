/** The options of A2A, most of them for the card, and their checks. */
import { requireSkills } from '../../../kernel/define/agent.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import {
  checkMembers, must, mustBe, mustBeFlag, mustBeTexts, rejectUnknown, show,
} from '../../../kernel/define/validate.ts'
import { formatCanonicalJson } from './canonical-json.ts'
import { pushSettingsOf } from './push-settings.ts'
import { signerOf } from './signature.ts'
import type { Agent, Group, Skill } from '../../../kernel/define/agent.ts'
import type { Principal } from '../../../kernel/define/principal.ts'
import type { Checks } from '../../../kernel/define/validate.ts'
import type { Authorization } from '../../../kernel/http/access/auth.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'
import type { A2aLimits } from './limits.ts'
import type { CardExtension } from './model.ts'
import type { PushOptions } from './push-settings.ts'
import type { Signer, SigningKey } from './signature.ts'

/** What the extended card of an agent adds to its public card, or replaces in it. */
export interface ExtendedCard {
  readonly name?: string
  readonly description?: string
  readonly documentationUrl?: string
  readonly iconUrl?: string
  /** Added to those of the public card; one with the same id replaces it. */
  readonly skills?: readonly Skill[]
  /** Media types. */
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
}

/**
 * Returns what more a caller may know of an agent or a group, which has an `id`. Nothing: this caller gets no
 * extended card of it.
 */
export type ExtendedCardOf = (
  principal: Principal, agent: Agent | Group,
) => MaybePromise<ExtendedCard | undefined | null>

/** The options of A2A. */
export interface A2aServerOptions {
  /**
   * What every client finds in a card: `hybrid` (default), the members of all versions at once, and of 1.0
   * alone for clients that ask for 1.0; or those of one version for all clients.
   */
  readonly card?: 'hybrid' | '1.0' | '0.3' | undefined
  /** Who answers for the agents. */
  readonly provider?: { readonly organization: string; readonly url: string } | undefined
  /** Where people can read about the agents. An address, http or https, as the next. */
  readonly documentationUrl?: string | undefined
  /** A picture of them. */
  readonly iconUrl?: string | undefined
  /** Extensions of the protocol that the agents offer, or require. */
  readonly extensions?: readonly CardExtension[] | undefined
  /** An ES256 private key: cards of 1.0 are signed with it. Left out: they are not signed. */
  readonly signingKey?: SigningKey | undefined
  /**
   * What authenticated callers find in the extended card: an object for the root alone, a function for each
   * agent. Needs `apiKey` or `auth`. Left out: there is no extended card.
   */
  readonly extendedCard?: ExtendedCard | ExtendedCardOf | undefined
  /** Tenants that requests may be for. The card has the addresses of each; 1.0 only. */
  readonly tenants?: readonly string[] | undefined
  /** Whether events of tasks are posted to addresses that clients name, and to which. Left out: not. */
  readonly pushNotifications?: boolean | PushOptions | undefined
}

/** The options of A2A, and how callers authenticate. */
export interface A2aOptions extends A2aServerOptions {
  readonly auth?: Authorization | undefined
  /** Whether callers may use a key; one may be made when the server listens. */
  readonly takesKeys: () => boolean
}

/** What the part is opened with. */
export interface A2aSetup {
  readonly service: Service
  readonly options: A2aOptions
  readonly limits: A2aLimits
  /** Seals cursors. */
  readonly seal: Seal
  /** Signs cards of 1.0; undefined where the operator gave no key. */
  readonly signer?: Signer | undefined
}

const TEXT = 'write a string that is not empty'
/** Longest name of a tenant, in bytes. */
const MAX_TENANT_BYTES = 256

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isAddress = (value: unknown): boolean => {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value)
}
const mustBeText = mustBe(isText, TEXT)
const mustBeAddress = mustBe(isAddress, `write an address, as in 'https://example.com/agents'`)
const mustBeModes = mustBeTexts(`['text/plain']`)

export const a2aChecks: Checks<A2aServerOptions> = {
  card: mustBe((value) => value === 'hybrid' || value === '1.0' || value === '0.3',
    `write 'hybrid', '1.0' or '0.3'`),
  provider: checkProvider,
  documentationUrl: mustBeAddress,
  iconUrl: mustBeAddress,
  extensions: checkExtensions,
  signingKey: (_owner, value) => { signerOf(value) },
  extendedCard(_owner, value) {
    if (typeof value !== 'function') checkExtendedCard('a2a.extendedCard', value)
  },
  tenants: checkTenants,
  pushNotifications: (_owner, value) => { pushSettingsOf(value) },
}

const extensionChecks: Checks<CardExtension> = {
  uri: true,
  description: must(isText, TEXT),
  required: mustBeFlag,
  params: must(isJsonObject, 'write an object of JSON values'),
}

const extendedChecks: Checks<ExtendedCard> = {
  name: mustBeText, description: mustBeText, documentationUrl: mustBeAddress, iconUrl: mustBeAddress,
  skills: requireSkills,
  inputModes: mustBeModes, outputModes: mustBeModes,
}

/** Throws `TypeError` for an extended card where no credential is needed, so that no caller could get it. */
export function requireCallers({ extendedCard }: A2aServerOptions, isNeeded: boolean): void {
  if (extendedCard === undefined || isNeeded) return
  throw new TypeError('a2a.extendedCard is for callers with a key or a token, and none is needed '
    + 'here; write apiKey or auth too')
}

/** Throws `TypeError` for what can be no extended card; `owner` begins the sentence. */
export function checkExtendedCard(owner: string, card: unknown): asserts card is ExtendedCard {
  if (!isRecord(card)) {
    throw new TypeError(`${owner} is ${show(card)}; write { description: 'All that it can do.', skills: [] }`)
  }
  checkMembers(owner, card, extendedChecks)
}

/** Throws `TypeError` where a tenant, the first segment of its own paths, is the first segment of another. */
export function requireTenantPaths(tenants: readonly string[], paths: readonly string[]): void {
  const segments = new Set(paths.map((path) => path.split('/')[1]!))
  const taken = tenants.find((tenant) => segments.has(tenant))
  if (taken === undefined) return
  throw new TypeError(`a2a.tenants has ${show(taken)}, and /${taken} is a path already; choose another name`)
}

function checkProvider(_owner: string, provider: unknown): void {
  if (!isRecord(provider) || !isText(provider['organization']) || !isAddress(provider['url'])) {
    throw new TypeError(`a2a.provider needs an organization and a url; `
      + `write { organization: 'Example', url: 'https://example.com' }`)
  }
  rejectUnknown('a2a.provider', provider, ['organization', 'url'])
}

function checkExtensions(_owner: string, extensions: unknown): void {
  const list: readonly unknown[] = Array.isArray(extensions) ? extensions : [extensions]
  const seen = new Set<unknown>()
  for (const one of list) {
    if (!isRecord(one) || !isUri(one['uri'])) {
      throw new TypeError(`a2a.extensions needs the uri of each: an address in visible ASCII without commas; `
        + `write [{ uri: 'https://example.com/extensions/geo/v1' }]`)
    }
    const { uri } = one
    const owner = `a2a.extensions ${show(uri)}`
    rejectUnknown(owner, one, Object.keys(extensionChecks))
    checkMembers(owner, one, extensionChecks)
    if (seen.has(uri)) throw new TypeError(`${owner} is there twice; leave one of them out`)
    seen.add(uri)
  }
  if (!Array.isArray(extensions)) {
    throw new TypeError(`a2a.extensions is ${show(extensions)}; write a list, as in [{ uri }]`)
  }
}

/** It is written into a header, between commas. */
function isUri(value: unknown): boolean {
  return typeof value === 'string' && /^[\x21-\x2b\x2d-\x7e]+$/.test(value) && URL.canParse(value)
}

function isJsonObject(value: unknown): boolean {
  try {
    return isRecord(value) && formatCanonicalJson(value) !== ''
  } catch {
    return false
  }
}

function checkTenants(_owner: string, tenants: unknown): void {
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
