/**
 * The agent card as A2A 1.0 spells it, both ways. Members of older dialects are not in it.
 *
 * A member that is not set is missing, never `undefined`: other dialects' members may be put beside these.
 * Spec: A2A 1.0 §4.4, §4.5, §8.
 */
import { isRecord } from '../../define/content.ts'
import {
  FieldFault, isUnset, needList, needName, needObject, readBoolean, readChoice, readList, readMembers,
  readText, readTexts, wrongField,
} from '../model/fields.ts'
import { unlessEmpty } from './v1-messages.ts'
import type { Skill } from '../../define/agent.ts'
import type {
  Card, CardExtension, CardInterface, CardSignature, JsonMembers, SecurityScheme,
} from '../model/model.ts'

type Provider = NonNullable<Card['provider']>
type Location = Extract<SecurityScheme, { readonly kind: 'apiKey' }>['location']

const bindings: ReadonlyMap<unknown, CardInterface['binding']> = new Map([
  ['JSONRPC', 'JSONRPC'], ['HTTP+JSON', 'HTTP+JSON'], ['GRPC', 'GRPC'],
])
const locations: ReadonlyMap<unknown, Location> = new Map([
  ['header', 'header'], ['query', 'query'], ['cookie', 'cookie'],
])
/** A scheme of 1.0 has one flow: of several, the first of these. */
const FLOWS = ['authorizationCode', 'clientCredentials', 'deviceCode', 'implicit', 'password'] as const
const SCHEME = 'must have exactly one of apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, '
  + 'openIdConnectSecurityScheme and mtlsSecurityScheme'

/** The members of a card. */
export function encodeV1Card(card: Card): JsonMembers {
  const { documentationUrl, iconUrl, provider, schemes, security, signatures } = card
  const extensions = unlessEmpty(card.extensions)
  return {
    name: card.name,
    description: card.description,
    supportedInterfaces: card.interfaces.map(encodeInterface),
    ...provider !== undefined && { provider },
    version: card.version,
    ...documentationUrl !== undefined && { documentationUrl },
    capabilities: {
      streaming: card.streams,
      pushNotifications: card.pushes,
      ...extensions !== undefined && { extensions: extensions.map(encodeExtension) },
      extendedAgentCard: card.hasExtendedCard,
    },
    ...schemes.size > 0 && { securitySchemes: membersOf(schemes, encodeScheme) },
    ...security.length > 0 && { securityRequirements: security.map(encodeRequirement) },
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: card.skills.map(encodeSkill),
    ...iconUrl !== undefined && { iconUrl },
    ...signatures !== undefined && { signatures },
  }
}

/** A card that somebody else made. Throws `Fault('invalid')` that names a member which is wrong. */
export function decodeV1Card(value: unknown): Card {
  const at = 'card'
  const card = needObject(value, at)
  const able = `${at}.capabilities`
  const abilities = needObject(card.capabilities, able)
  const signatures = readSignatures(card.signatures)
  const flag = (member: unknown, name: string): boolean => readBoolean(member, able, name) ?? false
  return {
    name: needName(card.name, at, 'name', Infinity),
    description: readText(card.description, at, 'description') ?? '',
    version: readText(card.version, at, 'version') ?? '',
    interfaces: needList(
      card.supportedInterfaces ?? card.supported_interfaces, at, 'supportedInterfaces', decodeInterface,
    ),
    provider: isUnset(card.provider) ? undefined : decodeProvider(card.provider, `${at}.provider`),
    documentationUrl: readText(card.documentationUrl ?? card.documentation_url, at, 'documentationUrl'),
    iconUrl: readText(card.iconUrl ?? card.icon_url, at, 'iconUrl'),
    streams: flag(abilities.streaming, 'streaming'),
    pushes: flag(abilities.pushNotifications ?? abilities.push_notifications, 'pushNotifications'),
    hasExtendedCard: flag(abilities.extendedAgentCard ?? abilities.extended_agent_card, 'extendedAgentCard'),
    extensions: readList(abilities.extensions, able, 'extensions', decodeExtension) ?? [],
    inputModes: readTexts(card.defaultInputModes ?? card.default_input_modes, at, 'defaultInputModes') ?? [],
    outputModes: readTexts(
      card.defaultOutputModes ?? card.default_output_modes, at, 'defaultOutputModes',
    ) ?? [],
    skills: readList(card.skills, at, 'skills', decodeSkill) ?? [],
    schemes: mapOf(card.securitySchemes ?? card.security_schemes, at, 'securitySchemes', decodeScheme),
    security: readList(
      card.securityRequirements ?? card.security_requirements, at, 'securityRequirements', decodeRequirement,
    ) ?? [],
    ...signatures !== undefined && { signatures },
  }
}

/** What is no signature is passed over: it proves nothing, and a card without any is one too. */
function readSignatures(value: unknown): readonly CardSignature[] | undefined {
  const signatures = Array.isArray(value) ? value.filter(isSignature) : []
  return signatures.length === 0 ? undefined : signatures
}

function isSignature(value: unknown): value is CardSignature {
  return isRecord(value) && typeof value['protected'] === 'string' && typeof value['signature'] === 'string'
}

function encodeInterface({ url, binding, version, tenant }: CardInterface): JsonMembers {
  const members = { url, protocolBinding: binding, protocolVersion: version }
  return tenant === undefined ? members : { ...members, tenant }
}

function decodeInterface(value: unknown, at: string): CardInterface {
  const one = needObject(value, at)
  const binding = readChoice(one.protocolBinding ?? one.protocol_binding, at, 'protocolBinding', bindings)
  if (binding === undefined) throw wrongField(at, 'protocolBinding', 'is missing')
  return {
    url: needName(one.url, at, 'url', Infinity),
    binding,
    version: needName(one.protocolVersion ?? one.protocol_version, at, 'protocolVersion', Infinity),
    tenant: readText(one.tenant, at, 'tenant'),
  }
}

function decodeProvider(value: unknown, at: string): Provider {
  const { organization, url } = needObject(value, at)
  return {
    organization: needName(organization, at, 'organization', Infinity), url: readText(url, at, 'url') ?? '',
  }
}

function encodeExtension({ uri, description, required, params }: CardExtension): JsonMembers {
  return {
    uri,
    ...description !== undefined && { description },
    ...required === true && { required },
    ...params !== undefined && { params },
  }
}

function decodeExtension(value: unknown, at: string): CardExtension {
  const extension = needObject(value, at)
  const description = readText(extension.description, at, 'description')
  const required = readBoolean(extension.required, at, 'required')
  const params = readMembers(extension.params, at, 'params')
  return {
    uri: needName(extension.uri, at, 'uri', Infinity),
    ...description !== undefined && { description },
    ...required === true && { required },
    ...params !== undefined && { params },
  }
}

function encodeSkill({ id, name, description, tags = [], examples, ...modes }: Skill): JsonMembers {
  return {
    id, name, description, tags,
    ...unlessEmpty(examples) !== undefined && { examples },
    ...unlessEmpty(modes.inputModes) !== undefined && { inputModes: modes.inputModes },
    ...unlessEmpty(modes.outputModes) !== undefined && { outputModes: modes.outputModes },
  }
}

function decodeSkill(value: unknown, at: string): Skill {
  const skill = needObject(value, at)
  const examples = readTexts(skill.examples, at, 'examples')
  const inputModes = readTexts(skill.inputModes ?? skill.input_modes, at, 'inputModes')
  const outputModes = readTexts(skill.outputModes ?? skill.output_modes, at, 'outputModes')
  return {
    id: needName(skill.id, at, 'id', Infinity),
    name: needName(skill.name, at, 'name', Infinity),
    description: readText(skill.description, at, 'description') ?? '',
    tags: readTexts(skill.tags, at, 'tags') ?? [],
    ...examples !== undefined && { examples },
    ...inputModes !== undefined && { inputModes },
    ...outputModes !== undefined && { outputModes },
  }
}

function encodeScheme(scheme: SecurityScheme): JsonMembers {
  switch (scheme.kind) {
    case 'apiKey': {
      const { location, name } = scheme
      return { apiKeySecurityScheme: { location, name } }
    }
    case 'http': {
      const { scheme: name, bearerFormat } = scheme
      return { httpAuthSecurityScheme: { scheme: name, ...bearerFormat !== undefined && { bearerFormat } } }
    }
    case 'oauth2': {
      const { flows, metadataUrl } = scheme
      const more = metadataUrl !== undefined && { oauth2MetadataUrl: metadataUrl }
      return { oauth2SecurityScheme: { flows: firstFlow(flows), ...more } }
    }
    case 'openIdConnect': return { openIdConnectSecurityScheme: { openIdConnectUrl: scheme.url } }
    case 'mutualTls': return { mtlsSecurityScheme: {} }
  }
}

function decodeScheme(value: unknown, at: string): SecurityScheme {
  const scheme = inCamelCase(needObject(value, at))
  const apiKey = readMembers(scheme.apiKeySecurityScheme, at, 'apiKeySecurityScheme')
  if (apiKey !== undefined) {
    const inside = `${at}.apiKeySecurityScheme`
    const location = readChoice(apiKey.location, inside, 'location', locations)
    if (location === undefined) throw wrongField(inside, 'location', 'is missing')
    return { kind: 'apiKey', location, name: needName(apiKey.name, inside, 'name', Infinity) }
  }
  const http = readMembers(scheme.httpAuthSecurityScheme, at, 'httpAuthSecurityScheme')
  if (http !== undefined) {
    const inside = `${at}.httpAuthSecurityScheme`
    const bearerFormat = readText(http.bearerFormat ?? http.bearer_format, inside, 'bearerFormat')
    return { kind: 'http', scheme: needName(http.scheme, inside, 'scheme', Infinity), bearerFormat }
  }
  const oauth2 = readMembers(scheme.oauth2SecurityScheme, at, 'oauth2SecurityScheme')
  if (oauth2 !== undefined) {
    const inside = `${at}.oauth2SecurityScheme`
    const url = oauth2.oauth2MetadataUrl ?? oauth2.oauth2_metadata_url
    const metadataUrl = readText(url, inside, 'oauth2MetadataUrl')
    const flows = decodeFlows(oauth2.flows, `${inside}.flows`, metadataUrl !== undefined)
    return { kind: 'oauth2', flows, metadataUrl }
  }
  const connect = readMembers(scheme.openIdConnectSecurityScheme, at, 'openIdConnectSecurityScheme')
  if (connect !== undefined) {
    const url = connect.openIdConnectUrl ?? connect.open_id_connect_url
    return {
      kind: 'openIdConnect',
      url: needName(url, `${at}.openIdConnectSecurityScheme`, 'openIdConnectUrl', Infinity),
    }
  }
  const mutualTls = readMembers(scheme.mtlsSecurityScheme, at, 'mtlsSecurityScheme')
  if (mutualTls !== undefined) return { kind: 'mutualTls' }
  throw new FieldFault(at, SCHEME)
}

function firstFlow(flows: JsonMembers): JsonMembers {
  const name = FLOWS.find((flow) => Object.hasOwn(flows, flow))
  return name === undefined ? flows : { [name]: flows[name] }
}

/** `isOptional`: the server's metadata tell of its flows. */
function decodeFlows(value: unknown, at: string, isOptional: boolean): JsonMembers {
  const flows = inCamelCase(needObject(value, at))
  const name = FLOWS.find((flow) => Object.hasOwn(flows, flow) && !isUnset(flows[flow]))
  if (name === undefined && isOptional) return {}
  if (name === undefined) throw new FieldFault(at, `must have one of ${FLOWS.join(', ')}`)
  return { [name]: inCamelCase(needObject(flows[name], `${at}.${name}`)) }
}

/** An object's own members under their names of JSON; what is in them stays as it is. */
function inCamelCase(members: JsonMembers): JsonMembers {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => {
    return [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]
  }))
}

function encodeRequirement(schemes: ReadonlyMap<string, readonly string[]>): JsonMembers {
  return { schemes: membersOf(schemes, (list) => ({ list })) }
}

function decodeRequirement(value: unknown, at: string): ReadonlyMap<string, readonly string[]> {
  return mapOf(needObject(value, at).schemes, at, 'schemes', (scopes, path) => {
    return readTexts(needObject(scopes, path).list, path, 'list') ?? []
  })
}

function membersOf<T>(map: ReadonlyMap<string, T>, encode: (item: T) => unknown): JsonMembers {
  return Object.fromEntries([...map].map(([name, item]) => [name, encode(item)]))
}

function mapOf<T>(
  value: unknown, at: string, name: string, decode: (item: unknown, path: string) => T,
): ReadonlyMap<string, T> {
  const members = readMembers(value, at, name) ?? {}
  return new Map(Object.entries(members).map(([key, item]) => [key, decode(item, `${at}.${name}.${key}`)]))
}
