/**
 * How an agent card is written in A2A 1.0, in 0.2 and 0.3, and for plain clients.
 *
 * A member of 1.0 that is not set is missing, never `undefined`: the other dialects' members may be put
 * beside these. A card of 0.3 lists addresses of this generation only, the main one first with its transport.
 * Spec: A2A 1.0 §4.4, §4.5, §8; A2A 0.3 §5.5, §5.6.
 */
import { Fault } from '../../define/fault.ts'
import { unlessEmpty } from './v1-messages.ts'
import type { Skill } from '../../define/agent.ts'
import type { Card, CardExtension, CardInterface, JsonMembers, SecurityScheme } from '../model/model.ts'

/** A scheme of 1.0 has one flow: of several, the first of these. */
const FLOWS = ['authorizationCode', 'clientCredentials', 'deviceCode', 'implicit', 'password'] as const

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

function encodeInterface({ url, binding, version, tenant }: CardInterface): JsonMembers {
  const members = { url, protocolBinding: binding, protocolVersion: version }
  return tenant === undefined ? members : { ...members, tenant }
}

function encodeExtension({ uri, description, required, params }: CardExtension): JsonMembers {
  return {
    uri,
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

function firstFlow(flows: JsonMembers): JsonMembers {
  const name = FLOWS.find((flow) => Object.hasOwn(flows, flow))
  return name === undefined ? flows : { [name]: flows[name] }
}

function encodeRequirement(schemes: ReadonlyMap<string, readonly string[]>): JsonMembers {
  return { schemes: membersOf(schemes, (list) => ({ list })) }
}

function membersOf<T>(map: ReadonlyMap<string, T>, encode: (item: T) => unknown): JsonMembers {
  return Object.fromEntries([...map].map(([name, item]) => [name, encode(item)]))
}

/** What is read and written; clients of 0.2 pass over the member. */
const VERSION = '0.3.0'

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
    skills: card.skills.map(encodeV03Skill),
    ...encodeV03Security(card),
  }
}

function encodeCapabilities({ streams, pushes, extensions }: Card): JsonMembers {
  return {
    streaming: streams, pushNotifications: pushes, stateTransitionHistory: false,
    extensions: extensions.length === 0 ? undefined : extensions,
  }
}

function encodeV03Skill(skill: Skill): JsonMembers {
  const { id, name, description, tags = [], examples, inputModes, outputModes } = skill
  return { id, name, description, tags, examples, inputModes, outputModes }
}

/** How a caller may prove who it is; no member where nobody needs to. */
export function encodeV03Security({ schemes, security }: Card): JsonMembers {
  const named = [...schemes].map(([name, scheme]): [string, JsonMembers] => [name, encodeV03Scheme(scheme)])
  return {
    ...schemes.size > 0 && { securitySchemes: Object.fromEntries(named) },
    ...security.length > 0 && { security: security.map((needed) => Object.fromEntries(needed)) },
  }
}

function encodeV03Scheme(scheme: SecurityScheme): JsonMembers {
  switch (scheme.kind) {
    case 'apiKey': return { type: 'apiKey', in: scheme.location, name: scheme.name }
    case 'http': return { type: 'http', scheme: scheme.scheme, bearerFormat: scheme.bearerFormat }
    case 'oauth2': return { type: 'oauth2', flows: scheme.flows, oauth2MetadataUrl: scheme.metadataUrl }
    case 'openIdConnect': return { type: 'openIdConnect', openIdConnectUrl: scheme.url }
    default: return { type: 'mutualTLS' }
  }
}
