/**
 * The card of an agent in A2A 0.2 and 0.3: one main address with its transport, the others beside it, and
 * schemes told by their `type`.
 *
 * A card lists addresses of this generation only; those of 1.0 are members of their own, which clients of
 * this one pass over.
 * Spec: A2A 0.3 §5.5, §5.6.
 */
import { Fault } from '../../define/fault.ts'
import type { Skill } from '../../define/agent.ts'
import type { Card, JsonMembers, SecurityScheme } from '../model/model.ts'

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
