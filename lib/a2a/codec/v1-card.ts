/**
 * The agent card as A2A 1.0 spells it, both ways. Members of older dialects are not in it.
 *
 * A member that is not set is missing, never `undefined`: other dialects' members may be put beside these.
 * Spec: A2A 1.0 §4.4, §4.5, §8.
 */
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
