/**
 * How an agent card is written in A2A 1.0, in 0.2 and 0.3, and for plain clients.
 * Spec: A2A 1.0 §4.4, §4.5, §8; A2A 0.3 §5.5, §5.6.
 */
import { Fault } from '../../../kernel/define/fault.ts'
import type { Skill } from '../../../kernel/define/agent.ts'
import type { Card, JsonMembers, SecurityScheme } from '../model/model.ts'

/** Clients of 0.2 ignore the member. */
const V03_VERSION = '0.3.0'
/** A scheme of 1.0 has one flow: of several, the first of these. */
const FLOWS = ['authorizationCode', 'clientCredentials', 'deviceCode', 'implicit', 'password'] as const

/** The members of a card of 1.0. One that is not set is missing, never `undefined`: they may be signed. */
export function encodeV1Card(card: Card): JsonMembers {
  const { schemes, security } = card
  return onlySet({
    name: card.name,
    description: card.description,
    supportedInterfaces: card.interfaces.map(({ url, binding, version, tenant }) => (
      onlySet({ url, protocolBinding: binding, protocolVersion: version, tenant })
    )),
    provider: card.provider,
    version: card.version,
    documentationUrl: card.documentationUrl,
    capabilities: onlySet({
      streaming: card.streams,
      pushNotifications: card.pushes,
      extensions: unlessEmpty(card.extensions.map(({ uri, description, required, params }) => (
        onlySet({ uri, description, required: required || undefined, params })
      ))),
      extendedAgentCard: card.hasExtendedCard,
    }),
    securitySchemes: schemes.size > 0 ? membersOf(schemes, encodeScheme) : undefined,
    securityRequirements: unlessEmpty(security.map((required) => (
      { schemes: membersOf(required, (list) => ({ list })) }
    ))),
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: card.skills.map(encodeSkill),
    iconUrl: card.iconUrl,
    signatures: card.signatures,
  })
}

function onlySet(members: JsonMembers): JsonMembers {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** A list that is left out where it is empty. */
export function unlessEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list !== undefined && list.length > 0 ? list : undefined
}

function membersOf<T>(map: ReadonlyMap<string, T>, encode: (item: T) => unknown): JsonMembers {
  return Object.fromEntries([...map].map(([name, item]) => [name, encode(item)]))
}

function encodeSkill({ id, name, description, tags = [], ...more }: Skill): JsonMembers {
  return onlySet({
    id, name, description, tags,
    examples: unlessEmpty(more.examples),
    inputModes: unlessEmpty(more.inputModes),
    outputModes: unlessEmpty(more.outputModes),
  })
}

function encodeScheme(scheme: SecurityScheme): JsonMembers {
  switch (scheme.kind) {
    case 'apiKey': return { apiKeySecurityScheme: { location: scheme.location, name: scheme.name } }
    case 'http': {
      const { scheme: name, bearerFormat } = scheme
      return { httpAuthSecurityScheme: onlySet({ scheme: name, bearerFormat }) }
    }
    case 'oauth2': {
      const { flows, metadataUrl } = scheme
      return { oauth2SecurityScheme: onlySet({ flows: firstFlow(flows), oauth2MetadataUrl: metadataUrl }) }
    }
    case 'openIdConnect': return { openIdConnectSecurityScheme: { openIdConnectUrl: scheme.url } }
    case 'mutualTls': return { mtlsSecurityScheme: {} }
  }
}

function firstFlow(flows: JsonMembers): JsonMembers {
  const name = FLOWS.find((flow) => Object.hasOwn(flows, flow))
  return name === undefined ? flows : { [name]: flows[name] }
}

/** The members of a card that clients of A2A 0.2 and 0.3 look for, with addresses of 0.x only. */
export function encodeV03Card(card: Card): JsonMembers {
  const own = card.interfaces.filter(({ version }) => version.startsWith('0.'))
  const main = own[0]
  if (main === undefined) {
    throw new Fault('unsupported', 'A card of A2A 0.3 needs an address of A2A 0.3')
  }
  const { capabilities, ...members } = encodePlainCard(card)
  return {
    ...members,
    protocolVersion: V03_VERSION,
    url: main.url,
    preferredTransport: main.binding,
    additionalInterfaces: own.map(({ url, binding }) => ({ url, transport: binding })),
    provider: card.provider,
    documentationUrl: card.documentationUrl,
    iconUrl: card.iconUrl,
    capabilities: { ...capabilities as JsonMembers, extensions: unlessEmpty(card.extensions) },
    supportsAuthenticatedExtendedCard: card.hasExtendedCard,
  }
}

/** The members of a card that clients of any age may look for. */
export function encodePlainCard(card: Card): JsonMembers {
  const { schemes, security } = card
  return {
    name: card.name,
    description: card.description,
    url: card.interfaces[0]!.url,
    version: card.version,
    capabilities: {
      streaming: card.streams, pushNotifications: card.pushes, stateTransitionHistory: false,
    },
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: card.skills,
    ...schemes.size > 0 && { securitySchemes: membersOf(schemes, encodeOldScheme) },
    ...security.length > 0 && { security: security.map((needed) => Object.fromEntries(needed)) },
  }
}

/** Before 1.0 a scheme has a `type`. */
function encodeOldScheme(scheme: SecurityScheme): JsonMembers {
  switch (scheme.kind) {
    case 'apiKey': return { type: 'apiKey', in: scheme.location, name: scheme.name }
    case 'http': return { type: 'http', scheme: scheme.scheme, bearerFormat: scheme.bearerFormat }
    case 'oauth2': return { type: 'oauth2', flows: scheme.flows, oauth2MetadataUrl: scheme.metadataUrl }
    case 'openIdConnect': return { type: 'openIdConnect', openIdConnectUrl: scheme.url }
    case 'mutualTls': return { type: 'mutualTLS' }
  }
}
