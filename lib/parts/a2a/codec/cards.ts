/**
 * An agent card as a table: each of its members, and in which versions it is. A document may be for clients
 * of several versions at once: what they look for has different names, or the same meaning.
 * Spec: A2A 1.0 §4.4, §4.5, §8; A2A 0.3 §5.5, §5.6.
 */
import { formatJson } from '../../../kernel/wire/json.ts'
import type { Dialect } from '../model/dialect.ts'
import type { Card, CardInterface, JsonMembers, SecurityScheme } from '../model/model.ts'

type Versions = readonly Dialect['version'][]
type Row = readonly [name: string, versions: Versions, write: (card: Card, versions: Versions) => unknown]

/** What plain clients look for is there before 1.0. */
const every: Versions = ['0.3', '1.0']

const cardRows: readonly Row[] = [
  ['name', every, ({ name }) => name],
  ['description', every, ({ description }) => description],
  ['version', every, ({ version }) => version],
  ['provider', every, ({ provider }) => provider],
  ['documentationUrl', every, ({ documentationUrl }) => documentationUrl],
  ['iconUrl', every, ({ iconUrl }) => iconUrl],
  // Clients of 0.2 ignore the member.
  ['protocolVersion', ['0.3'], () => '0.3.0'],
  ['url', ['0.3'], (card) => oldInterfaces(card)[0]?.url],
  ['preferredTransport', ['0.3'], (card) => oldInterfaces(card)[0]?.binding],
  ['additionalInterfaces', ['0.3'], (card) => (
    oldInterfaces(card).map(({ url, binding }) => ({ url, transport: binding }))
  )],
  ['supportedInterfaces', ['1.0'], ({ interfaces }) => (
    interfaces.map(({ url, binding, version, tenant }) => (
      { url, protocolBinding: binding, protocolVersion: version, tenant }
    ))
  )],
  ['capabilities', every, (card, versions) => membersFor(abilityRows, card, versions)],
  ['supportsAuthenticatedExtendedCard', ['0.3'], ({ hasExtendedCard }) => hasExtendedCard],
  ['securitySchemes', every, ({ schemes }, versions) => schemes.size === 0 ? undefined
    : membersOf(schemes, (scheme) => encodeScheme(scheme, versions))],
  ['security', ['0.3'], ({ security }) => unlessEmpty(security.map((needed) => Object.fromEntries(needed)))],
  ['securityRequirements', ['1.0'], ({ security }) => unlessEmpty(security.map((needed) => (
    { schemes: membersOf(needed, (list) => ({ list })) }
  )))],
  ['defaultInputModes', every, ({ inputModes }) => inputModes],
  ['defaultOutputModes', every, ({ outputModes }) => outputModes],
  ['skills', every, ({ skills }) => skills.map(({ id, name, description, tags = [], ...more }) => ({
    id, name, description, tags, examples: unlessEmpty(more.examples),
    inputModes: unlessEmpty(more.inputModes), outputModes: unlessEmpty(more.outputModes),
  }))],
  ['signatures', ['1.0'], ({ signatures }) => signatures],
]

const abilityRows: readonly Row[] = [
  ['streaming', every, ({ streams }) => streams],
  ['pushNotifications', every, ({ pushes }) => pushes],
  ['stateTransitionHistory', ['0.3'], () => false],
  ['extensions', ['0.3'], ({ extensions }) => unlessEmpty(extensions)],
  ['extensions', ['1.0'], ({ extensions }) => unlessEmpty(extensions.map(({ required, ...more }) => (
    { ...more, required: required || undefined }
  )))],
  ['extendedAgentCard', ['1.0'], ({ hasExtendedCard }) => hasExtendedCard],
]

type SchemeOf<kind extends SecurityScheme['kind']> = Extract<SecurityScheme, { readonly kind: kind }>

/** Before 1.0 a scheme has a `type`; since then it is a member of its own, which may have other members. */
const schemeForms: {
  readonly [kind in SecurityScheme['kind']]: readonly [
    member: string, before1: (scheme: SchemeOf<kind>) => JsonMembers,
    since1?: (scheme: SchemeOf<kind>) => JsonMembers,
  ]
} = {
  apiKey: [
    'apiKeySecurityScheme', ({ name }) => ({ in: 'header', name }),
    ({ name }) => ({ location: 'header', name }),
  ],
  http: ['httpAuthSecurityScheme', ({ scheme }) => ({ scheme })],
  // 1.0 wants the addresses of a flow, which only the metadata has: some clients refuse a card without them.
  oauth2: [
    'httpAuthSecurityScheme', ({ metadataUrl }) => ({ flows: {}, oauth2MetadataUrl: metadataUrl }),
    ({ metadataUrl }) => ({ scheme: 'bearer', description: `A token of OAuth 2.0: ${metadataUrl}` }),
  ],
}

/** The members of a card for clients of these versions. One that is not set is missing, never `undefined`. */
export function encodeCard(card: Card, ...versions: Versions): JsonMembers {
  return JSON.parse(formatJson(membersFor(cardRows, card, versions))) as JsonMembers
}

function membersFor(rows: readonly Row[], card: Card, versions: Versions): JsonMembers {
  return Object.fromEntries(rows.filter(([, own]) => own.some((one) => versions.includes(one)))
    .map(([name, , write]) => [name, write(card, versions)]))
}

/** The addresses at which 0.3 is spoken. */
function oldInterfaces({ interfaces }: Card): readonly CardInterface[] {
  return interfaces.filter(({ version }) => version.startsWith('0.'))
}

function encodeScheme(scheme: SecurityScheme, versions: Versions): JsonMembers {
  const [member, before, since = before] = schemeForms[scheme.kind]
  return {
    ...versions.includes('0.3') && { type: scheme.kind, ...before(scheme as never) },
    ...versions.includes('1.0') && { [member]: since(scheme as never) },
  }
}

function unlessEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list !== undefined && list.length > 0 ? list : undefined
}

function membersOf<T>(map: ReadonlyMap<string, T>, encode: (item: T) => unknown): JsonMembers {
  return Object.fromEntries([...map].map(([name, item]) => [name, encode(item)]))
}
