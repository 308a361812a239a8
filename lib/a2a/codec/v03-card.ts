/**
 * The card of an agent in A2A 0.2 and 0.3: one main address with its transport, the others beside it, and
 * schemes told by their `type`.
 *
 * A card lists addresses of this generation only; those of 1.0 are members of their own, which clients of
 * this one pass over.
 * Spec: A2A 0.3 §5.5, §5.6.
 */
import { Fault } from '../../define/fault.ts'
import {
  isUnset, readBoolean, readChoice, readList, readMembers, readText, readTexts, needObject,
  needText, wrongField,
} from '../model/fields.ts'
import type { Skill } from '../../define/agent.ts'
import type { Card, CardExtension, CardInterface, JsonMembers, SecurityScheme } from '../model/model.ts'

/** What is read and written; clients of 0.2 pass over the member. */
const VERSION = '0.3.0'
const TEXT: readonly string[] = Object.freeze(['text/plain'])

type Binding = CardInterface['binding']

const bindings: ReadonlyMap<unknown, Binding> = new Map<unknown, Binding>([
  ['JSONRPC', 'JSONRPC'], ['HTTP+JSON', 'HTTP+JSON'], ['GRPC', 'GRPC'],
])

const locations: ReadonlyMap<unknown, 'header' | 'query' | 'cookie'> = new Map([
  ['header', 'header'], ['query', 'query'], ['cookie', 'cookie'],
])

/** The members of a card that clients of A2A 0.2 and 0.3 look for. */
export function encodeV03Card(card: Card): JsonMembers {
  const own = card.interfaces.filter(({ version }) => version.startsWith('0.'))
  const main = own[0]
  if (main === undefined) {
    throw new Fault('unsupported', 'A card of A2A 0.3 needs an address at which 0.3 is spoken')
  }
  return {
    protocolVersion: VERSION,
    name: card.name,
    description: card.description,
    url: main.url,
    preferredTransport: main.binding,
    additionalInterfaces: own.map(({ url, binding }) => ({ url, transport: binding })),
    version: card.version,
    provider: card.provider,
    documentationUrl: card.documentationUrl,
    iconUrl: card.iconUrl,
    capabilities: encodeCapabilities(card),
    supportsAuthenticatedExtendedCard: card.hasExtendedCard,
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: card.skills.map(encodeSkill),
    ...encodeV03Security(card),
  }
}

function encodeCapabilities({ streams, pushes, extensions }: Card): JsonMembers {
  return {
    streaming: streams, pushNotifications: pushes, stateTransitionHistory: false,
    extensions: extensions.length === 0 ? undefined : extensions,
  }
}

function encodeSkill(skill: Skill): JsonMembers {
  const { id, name, description, tags = [], examples, inputModes, outputModes } = skill
  return { id, name, description, tags, examples, inputModes, outputModes }
}

/** How a caller may prove who it is; no member where nobody needs to. */
export function encodeV03Security({ schemes, security }: Card): JsonMembers {
  const named = [...schemes].map(([name, scheme]): [string, JsonMembers] => [name, encodeScheme(scheme)])
  return {
    ...schemes.size > 0 && { securitySchemes: Object.fromEntries(named) },
    ...security.length > 0 && { security: security.map((needed) => Object.fromEntries(needed)) },
  }
}

function encodeScheme(scheme: SecurityScheme): JsonMembers {
  switch (scheme.kind) {
    case 'apiKey': return { type: 'apiKey', in: scheme.location, name: scheme.name }
    case 'http': return { type: 'http', scheme: scheme.scheme, bearerFormat: scheme.bearerFormat }
    case 'oauth2': return { type: 'oauth2', flows: scheme.flows, oauth2MetadataUrl: scheme.metadataUrl }
    case 'openIdConnect': return { type: 'openIdConnect', openIdConnectUrl: scheme.url }
    default: return { type: 'mutualTLS' }
  }
}

/** Reads a card. What is required but has a usual value may be missing, as it is in cards of 0.2. */
export function decodeV03Card(value: unknown): Card {
  const card = needObject(value, 'card')
  const at = 'card'
  const capabilities = readMembers(card['capabilities'], at, 'capabilities') ?? {}
  const inside = `${at}.capabilities`
  return {
    name: needText(card['name'], at, 'name'),
    description: readText(card['description'], at, 'description') ?? '',
    version: readText(card['version'], at, 'version') ?? '',
    interfaces: decodeInterfaces(card),
    provider: decodeProvider(card['provider'], `${at}.provider`),
    documentationUrl: readText(card['documentationUrl'], at, 'documentationUrl'),
    iconUrl: readText(card['iconUrl'], at, 'iconUrl'),
    streams: readBoolean(capabilities['streaming'], inside, 'streaming') === true,
    pushes: readBoolean(capabilities['pushNotifications'], inside, 'pushNotifications') === true,
    hasExtendedCard: readBoolean(
      card['supportsAuthenticatedExtendedCard'], at, 'supportsAuthenticatedExtendedCard',
    ) === true,
    extensions: readList(capabilities['extensions'], inside, 'extensions', decodeExtension) ?? [],
    inputModes: readTexts(card['defaultInputModes'], at, 'defaultInputModes') ?? TEXT,
    outputModes: readTexts(card['defaultOutputModes'], at, 'defaultOutputModes') ?? TEXT,
    skills: readList(card['skills'], at, 'skills', decodeSkill) ?? [],
    schemes: decodeSchemes(readMembers(card['securitySchemes'], at, 'securitySchemes') ?? {}),
    security: readList(card['security'], at, 'security', decodeRequirement) ?? [],
  }
}

/** The main address, then the others. Transports that nobody here knows are passed over. */
function decodeInterfaces(card: JsonMembers): readonly CardInterface[] {
  const at = 'card'
  const url = needText(card['url'], at, 'url')
  if (url === '') throw wrongField(at, 'url', 'must be an absolute URL')
  const spoken = readText(card['protocolVersion'], at, 'protocolVersion') ?? VERSION
  const version = /^\d+\.\d+/.exec(spoken)?.[0] ?? spoken
  const transport = readText(card['preferredTransport'], at, 'preferredTransport') ?? 'JSONRPC'
  const others = readList(card['additionalInterfaces'], at, 'additionalInterfaces', needObject) ?? []
  const interfaces: CardInterface[] = []
  for (const one of [{ url, transport }, ...others]) {
    const binding = bindings.get(one.transport)
    if (binding === undefined || typeof one.url !== 'string') continue
    const known = interfaces.some((other) => other.url === one.url && other.binding === binding)
    if (!known) interfaces.push({ url: one.url, binding, version, tenant: undefined })
  }
  if (interfaces.length > 0) return interfaces
  throw wrongField(at, 'preferredTransport', 'must be one of JSONRPC, HTTP+JSON, GRPC')
}

function decodeProvider(value: unknown, at: string): Card['provider'] {
  if (isUnset(value)) return undefined
  const { organization, url } = needObject(value, at)
  return { organization: needText(organization, at, 'organization'), url: needText(url, at, 'url') }
}

function decodeExtension(value: unknown, at: string): CardExtension {
  const extension = needObject(value, at)
  const description = readText(extension['description'], at, 'description')
  const required = readBoolean(extension['required'], at, 'required')
  const params = readMembers(extension['params'], at, 'params')
  return {
    uri: needText(extension['uri'], at, 'uri'),
    ...description !== undefined && { description },
    ...required !== undefined && { required },
    ...params !== undefined && { params },
  }
}

/** Reads one skill. `at` is its path. */
function decodeSkill(value: unknown, at: string): Skill {
  const skill = needObject(value, at)
  const examples = readTexts(skill['examples'], at, 'examples')
  const inputModes = readTexts(skill['inputModes'], at, 'inputModes')
  const outputModes = readTexts(skill['outputModes'], at, 'outputModes')
  return {
    id: needText(skill['id'], at, 'id'),
    name: needText(skill['name'], at, 'name'),
    description: readText(skill['description'], at, 'description') ?? '',
    tags: readTexts(skill['tags'], at, 'tags') ?? [],
    ...examples !== undefined && { examples },
    ...inputModes !== undefined && { inputModes },
    ...outputModes !== undefined && { outputModes },
  }
}

/** Schemes by name. Of a type that nobody here knows, they are passed over. */
function decodeSchemes(named: JsonMembers): ReadonlyMap<string, SecurityScheme> {
  const schemes = new Map<string, SecurityScheme>()
  for (const [name, value] of Object.entries(named)) {
    const scheme = decodeScheme(value, `card.securitySchemes.${name}`)
    if (scheme !== undefined) schemes.set(name, scheme)
  }
  return schemes
}

function decodeScheme(value: unknown, at: string): SecurityScheme | undefined {
  const scheme = needObject(value, at)
  switch (scheme['type']) {
    case 'apiKey': {
      const location = readChoice(scheme['in'], at, 'in', locations)
      if (location === undefined) throw wrongField(at, 'in', 'is missing; it must be header, query or cookie')
      return { kind: 'apiKey', location, name: needText(scheme['name'], at, 'name') }
    }
    case 'http': {
      const bearerFormat = readText(scheme['bearerFormat'], at, 'bearerFormat')
      return { kind: 'http', scheme: needText(scheme['scheme'], at, 'scheme'), bearerFormat }
    }
    case 'oauth2': {
      const metadataUrl = readText(scheme['oauth2MetadataUrl'], at, 'oauth2MetadataUrl')
      return { kind: 'oauth2', flows: needObject(scheme['flows'], `${at}.flows`), metadataUrl }
    }
    case 'openIdConnect':
      return { kind: 'openIdConnect', url: needText(scheme['openIdConnectUrl'], at, 'openIdConnectUrl') }
    case 'mutualTLS': return { kind: 'mutualTls' }
    default: return undefined
  }
}

function decodeRequirement(value: unknown, at: string): ReadonlyMap<string, readonly string[]> {
  const needed = Object.entries(needObject(value, at))
  return new Map(needed.map(([name, scopes]) => [name, readTexts(scopes, at, name) ?? []]))
}
