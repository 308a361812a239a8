/**
 * An agent card as a table: each of its members, and in which versions it is. A document may be for clients
 * of several versions at once: what they look for has different names, or the same meaning.
 * Spec: A2A 1.0 §4.4, §4.5, §8; A2A 0.3 §5.5, §5.6.
 */
import type { Skill } from '../../../kernel/define/agent.ts'
import type { DialectName } from '../model/dialect.ts'
import type { Card, CardExtension, CardInterface, JsonMembers, SecurityScheme } from '../model/model.ts'

type Versions = readonly DialectName[]
type Row<T> = readonly [name: string, versions: Versions, write: (from: T, versions: Versions) => unknown]

const every: Versions = ['plain', '0.3', '1.0']
const before1: Versions = ['plain', '0.3']
const since03: Versions = ['0.3', '1.0']

const cardRows: readonly Row<Card>[] = [
  ['name', every, ({ name }) => name],
  ['description', every, ({ description }) => description],
  ['version', every, ({ version }) => version],
  ['provider', since03, ({ provider }) => provider],
  ['documentationUrl', since03, ({ documentationUrl }) => documentationUrl],
  ['iconUrl', since03, ({ iconUrl }) => iconUrl],
  // Clients of 0.2 ignore the member.
  ['protocolVersion', ['0.3'], () => '0.3.0'],
  ['url', before1, (card) => oldInterfaces(card)[0]?.url],
  ['preferredTransport', ['0.3'], (card) => oldInterfaces(card)[0]?.binding],
  ['additionalInterfaces', ['0.3'], (card) => (
    oldInterfaces(card).map(({ url, binding }) => ({ url, transport: binding }))
  )],
  ['supportedInterfaces', ['1.0'], ({ interfaces }) => (
    interfaces.map(({ url, binding, version, tenant }) => (
      onlySet({ url, protocolBinding: binding, protocolVersion: version, tenant })
    ))
  )],
  ['capabilities', every, (card, versions) => membersFor(abilityRows, card, versions)],
  ['supportsAuthenticatedExtendedCard', ['0.3'], ({ hasExtendedCard }) => hasExtendedCard],
  ['securitySchemes', every, ({ schemes }, versions) => schemes.size === 0 ? undefined
    : membersOf(schemes, (scheme) => encodeScheme(scheme, versions))],
  ['security', before1, ({ security }) => unlessEmpty(security.map((needed) => Object.fromEntries(needed)))],
  ['securityRequirements', ['1.0'], ({ security }) => unlessEmpty(security.map((needed) => (
    { schemes: membersOf(needed, (list) => ({ list })) }
  )))],
  ['defaultInputModes', every, ({ inputModes }) => inputModes],
  ['defaultOutputModes', every, ({ outputModes }) => outputModes],
  ['skills', every, ({ skills }) => skills.map(encodeSkill)],
  ['signatures', ['1.0'], ({ signatures }) => signatures],
]

const abilityRows: readonly Row<Card>[] = [
  ['streaming', every, ({ streams }) => streams],
  ['pushNotifications', every, ({ pushes }) => pushes],
  ['stateTransitionHistory', before1, () => false],
  ['extensions', ['0.3'], ({ extensions }) => unlessEmpty(extensions)],
  ['extensions', ['1.0'], ({ extensions }) => unlessEmpty(extensions.map(encodeExtension))],
  ['extendedAgentCard', ['1.0'], ({ hasExtendedCard }) => hasExtendedCard],
]

type SchemeOf<kind extends SecurityScheme['kind']> = Extract<SecurityScheme, { readonly kind: kind }>

/** Before 1.0 a scheme has a `type`; since then it is a member of its own, which may have other members. */
const schemeForms: {
  readonly [kind in SecurityScheme['kind']]: readonly [
    type: string, member: string, before1: (scheme: SchemeOf<kind>) => JsonMembers,
    since1?: (scheme: SchemeOf<kind>) => JsonMembers,
  ]
} = {
  apiKey: [
    'apiKey', 'apiKeySecurityScheme', ({ location, name }) => ({ in: location, name }),
    ({ location, name }) => ({ location, name }),
  ],
  http: ['http', 'httpAuthSecurityScheme', ({ scheme, bearerFormat }) => ({ scheme, bearerFormat })],
  oauth2: [
    'oauth2', 'oauth2SecurityScheme', ({ flows, metadataUrl }) => ({ flows, oauth2MetadataUrl: metadataUrl }),
    ({ flows, metadataUrl }) => ({ flows: firstFlow(flows), oauth2MetadataUrl: metadataUrl }),
  ],
  openIdConnect: ['openIdConnect', 'openIdConnectSecurityScheme', ({ url }) => ({ openIdConnectUrl: url })],
  mutualTls: ['mutualTLS', 'mtlsSecurityScheme', () => ({})],
}
/** A scheme of 1.0 has one flow: of several, the first of these. */
const FLOWS = ['authorizationCode', 'clientCredentials', 'deviceCode', 'implicit', 'password'] as const

/** The members of a card for clients of these versions. One that is not set is missing, never `undefined`. */
export function encodeCard(card: Card, ...versions: Versions): JsonMembers {
  return membersFor(cardRows, card, versions)
}

function membersFor<T>(rows: readonly Row<T>[], from: T, versions: Versions): JsonMembers {
  return onlySet(Object.fromEntries(rows.filter(([, own]) => own.some((one) => versions.includes(one)))
    .map(([name, , write]) => [name, write(from, versions)])))
}

/** The addresses at which 0.3 is spoken. */
function oldInterfaces({ interfaces }: Card): readonly CardInterface[] {
  return interfaces.filter(({ version }) => version.startsWith('0.'))
}

function encodeScheme(scheme: SecurityScheme, versions: Versions): JsonMembers {
  const [type, member, before, since = before] = schemeForms[scheme.kind]
  return onlySet({
    ...versions.some((one) => one !== '1.0') && { type, ...before(scheme as never) },
    ...versions.includes('1.0') && { [member]: onlySet(since(scheme as never)) },
  })
}

function firstFlow(flows: JsonMembers): JsonMembers {
  const name = FLOWS.find((flow) => Object.hasOwn(flows, flow))
  return name === undefined ? flows : { [name]: flows[name] }
}

function encodeExtension({ uri, description, required, params }: CardExtension): JsonMembers {
  return onlySet({ uri, description, required: required || undefined, params })
}

function encodeSkill({ id, name, description, tags = [], ...more }: Skill): JsonMembers {
  return onlySet({
    id, name, description, tags,
    examples: unlessEmpty(more.examples),
    inputModes: unlessEmpty(more.inputModes),
    outputModes: unlessEmpty(more.outputModes),
  })
}

function onlySet(members: JsonMembers): JsonMembers {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function unlessEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list !== undefined && list.length > 0 ? list : undefined
}

function membersOf<T>(map: ReadonlyMap<string, T>, encode: (item: T) => unknown): JsonMembers {
  return Object.fromEntries([...map].map(([name, item]) => [name, encode(item)]))
}
