/**
 * What an agent card contains, for every dialect: name, addresses, skills, and exactly the authentication
 * schemes that the server uses.
 * Spec: A2A 1.0 §4.4, §4.5 and §8; RFC 8414 §3.
 */
import { allowed, anonymous, hasScopes } from '../../../kernel/define/principal.ts'
import { skillSetOf } from '../../../floors/skills/skill-set.ts'
import { isToolAgent, rootOf } from '../model/tool-agent.ts'
import type { Agent, Group, Skill } from '../../../kernel/define/agent.ts'
import type { ServedSkill } from '../../../floors/skills/skill-set.ts'
import type { Principal } from '../../../kernel/define/principal.ts'
import type { Tool } from '../../../kernel/define/tool.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Card, CardInterface, SecurityScheme } from '../model/model.ts'
import type { A2aOptions, ExtendedCard } from '../model/options.ts'

const TEXT: readonly string[] = Object.freeze(['text/plain'])
const JSON_DATA: readonly string[] = Object.freeze(['application/json'])
const chat: Skill = { id: 'chat', name: 'Chat', description: 'General conversation', tags: ['chat'] }

/** Addresses below that of the agent, the preferred one first. */
const places: readonly (readonly [binding: CardInterface['binding'], version: string, path: string])[] = [
  ['JSONRPC', '1.0', '/a2a'],
  ['HTTP+JSON', '1.0', ''],
  ['JSONRPC', '0.3', '/a2a'],
]

const keySchemes: readonly (readonly [name: string, scheme: SecurityScheme])[] = [
  ['apiKey', { kind: 'apiKey', name: 'X-API-Key' }],
  ['bearer', { kind: 'http', scheme: 'bearer' }],
]

/**
 * The card of an agent that is reached below `url`, with the skills that a caller may use. Where that is the
 * root, the server's tools are skills.
 */
export function composeCard(
  service: Service, options: A2aOptions, agent: Agent | Group, url: string, isRoot: boolean,
  principal: Principal = anonymous,
): Card {
  const { extensions = [], tenants = [], provider, documentationUrl, iconUrl, pushNotifications } = options
  const modes: Partial<Agent> = agent.kind === 'agent' ? agent : {}
  return {
    name: agent.name,
    description: agent.description || (agent === rootOf(service) && service.description) || agent.name,
    version: agent.version ?? service.version,
    interfaces: [undefined, ...tenants].flatMap((tenant) => interfacesOf(url, tenant)),
    provider,
    documentationUrl,
    iconUrl,
    streams: true,
    pushes: pushNotifications !== undefined && pushNotifications !== false,
    hasExtendedCard: hasExtendedCard(service, options, agent),
    extensions,
    inputModes: modes.inputModes ?? TEXT,
    outputModes: modes.outputModes ?? TEXT,
    skills: uniqueSkills([
      ...isToolAgent(service, agent) || !hasScopes(principal, agent.scopes) ? [] : skillsOf(agent, principal),
      ...isRoot ? allowed(principal, service.catalog.tools).map(skillOf) : [],
      ...isRoot ? allowed(principal, skillSetOf(service).skills).map(instructionsOf) : [],
    ]),
    ...securityOf(options, agent.scopes),
  }
}

/** Whether an agent has an extended card: its operator's, or skills that only some callers may use. */
export function hasExtendedCard(
  service: Service, { extendedCard, takesKeys, auth }: A2aOptions, agent: Agent | Group,
): boolean {
  const isRoot = agent === rootOf(service)
  if (typeof extendedCard === 'function' || (extendedCard !== undefined && isRoot)) return true
  if (!takesKeys() && auth === undefined) return false
  const atRoot = [...service.catalog.tools, ...skillSetOf(service).skills]
  return needsScopes(agent) || (isRoot && atRoot.some(needsScopes))
    || (agent.kind === 'group' && agent.agents.some(needsScopes))
}

function needsScopes({ scopes }: Pick<Tool, 'scopes'>): boolean {
  return scopes.length > 0
}

/** A card with the members of an extended card. */
export function extendCard(card: Card, { skills = [], ...more }: ExtendedCard): Card {
  const given = Object.entries(more).filter(([, member]) => member !== undefined)
  return { ...card, ...Object.fromEntries(given), skills: uniqueSkills([...card.skills, ...skills]) }
}

/** Tenants are of 1.0. */
function interfacesOf(url: string, tenant: string | undefined): readonly CardInterface[] {
  return places.filter(([, version]) => tenant === undefined || version === '1.0')
    .map(([binding, version, path]) => ({ url: url + path, binding, version, tenant }))
}

/** An agent's own, or conversation; of a group, its agents are the skills. */
function skillsOf(agent: Agent | Group, principal: Principal): readonly Skill[] {
  if (agent.kind === 'group') {
    return allowed(principal, agent.agents).map(({ id, name, description }) => {
      return { id, name, description: description || name, tags: [id] }
    })
  }
  return agent.skills === undefined || agent.skills.length === 0 ? [chat] : agent.skills
}

/** A tool is called with data, its arguments; it answers with text or data. */
function skillOf({ name, title, description }: Tool): Skill {
  return {
    id: name, name: title ?? name, description: description || (title ?? name), tags: ['tool'],
    inputModes: JSON_DATA, outputModes: [...JSON_DATA, ...TEXT],
  }
}

/** Instructions for the model of the caller: it finds them at `GET /skills`, and over MCP. */
function instructionsOf({ path, name, description }: ServedSkill): Skill {
  return { id: path, name, description, tags: ['skill'] }
}

/**
 * Of those with one id the last, where the first stood. A card requires tags, authors need not write them.
 */
function uniqueSkills(skills: readonly Skill[]): readonly Skill[] {
  const byId = new Map<string, Skill>()
  for (const skill of skills) {
    const { id, tags } = skill
    byId.set(id, tags === undefined || tags.length === 0 ? { ...skill, tags: [id] } : skill)
  }
  return [...byId.values()]
}

/**
 * The schemes that the server uses at this moment, by name, and which of them are enough: any one. `scopes`:
 * what a token needs besides.
 */
export function securityOf(
  { takesKeys, auth }: A2aOptions, scopes: readonly string[] = [],
): Pick<Card, 'schemes' | 'security'> {
  const schemes = new Map<string, SecurityScheme>(takesKeys() ? keySchemes : [])
  const security = [...schemes.keys()].map((name) => new Map<string, readonly string[]>([[name, []]]))
  for (const [index, issuer] of (auth?.authorizationServers ?? []).entries()) {
    const name = index === 0 ? 'oauth' : `oauth-${index + 1}`
    schemes.set(name, { kind: 'oauth2', metadataUrl: metadataUrl(issuer) })
    security.push(new Map([[name, [...new Set([...auth?.scopes ?? [], ...scopes])]]]))
  }
  return { schemes, security }
}

/** The well-known path goes between the host and the path of the issuer. */
function metadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/oauth-authorization-server${pathname === '/' ? '' : pathname}`
}
