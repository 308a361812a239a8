/**
 * What an agent card says, in the words of no dialect: who is served, where, what it can do, and how to be
 * let in. How it is spelled, and how caches are told of it, is not known here.
 * Spec: A2A 1.0 §4.4 and §8.
 */
import { dialects } from '../codec/dialects.ts'
import { securityOf } from './security.ts'
import { isToolAgent, rootOf } from '../model/tool-agent.ts'
import type { Agent, Group, Skill } from '../../define/agent.ts'
import type { Service } from '../../run/service.ts'
import type { Tool } from '../../define/tool.ts'
import type { Dialect } from '../model/dialect.ts'
import type { Card, CardInterface } from '../model/model.ts'
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

/**
 * The card of somebody who is reached below `url`. Where that is the root, the server's tools are skills.
 * `spoken` are the dialects that it promises.
 */
export function composeCard(
  service: Service, options: A2aOptions, who: Agent | Group, url: string, isRoot: boolean,
  spoken: readonly Dialect[] = dialects,
): Card {
  const { extensions = [], tenants = [], provider, documentationUrl, iconUrl, pushNotifications } = options
  const modes: Partial<Agent> = who.kind === 'agent' ? who : {}
  return {
    name: who.name,
    description: who.description || (who === rootOf(service) && service.description) || who.name,
    version: who.version ?? service.version,
    interfaces: interfacesOf(url, tenants, spoken),
    provider,
    documentationUrl,
    iconUrl,
    streams: true,
    pushes: pushNotifications !== undefined && pushNotifications !== false,
    hasExtendedCard: hasExtendedCard(service, options, who),
    extensions,
    inputModes: modes.inputModes ?? TEXT,
    outputModes: modes.outputModes ?? TEXT,
    skills: uniqueSkills([
      ...isToolAgent(service, who) ? [] : skillsOf(who), ...isRoot ? service.catalog.tools.map(skillOf) : [],
    ]),
    ...securityOf(options),
  }
}

/** Whether there is an extended card of somebody. */
export function hasExtendedCard(
  service: Service, { extendedCard }: A2aOptions, who: Agent | Group,
): boolean {
  return typeof extendedCard === 'function' || (extendedCard !== undefined && who === rootOf(service))
}

/** A card with more in it. */
export function extendCard(card: Card, { skills = [], ...more }: ExtendedCard): Card {
  const given = Object.entries(more).filter(([, member]) => member !== undefined)
  return { ...card, ...Object.fromEntries(given), skills: uniqueSkills([...card.skills, ...skills]) }
}

/** What no dialect is spoken at is not promised. Tenants are of 1.0. */
function interfacesOf(
  url: string, tenants: readonly string[], spoken: readonly Dialect[],
): readonly CardInterface[] {
  const speaksNewest = spoken.some(({ name }) => name === '1.0')
  const here = places.filter(([, version]) => version !== '1.0' || speaksNewest)
  return [undefined, ...tenants].flatMap((tenant) => here
    .filter(([, version]) => tenant === undefined || version === '1.0')
    .map(([binding, version, path]) => ({ url: url + path, binding, version, tenant })))
}

/** An agent's own, or conversation; of a group, its agents are the skills. */
function skillsOf(who: Agent | Group): readonly Skill[] {
  if (who.kind === 'group') {
    return who.agents.map(({ id, name, description }) => {
      return { id, name, description: description || name, tags: [id] }
    })
  }
  return who.skills === undefined || who.skills.length === 0 ? [chat] : who.skills
}

/** What calls it is data with its arguments; what it answers is its own text or data. */
function skillOf({ name, title, description }: Tool): Skill {
  return {
    id: name, name: title ?? name, description: description || (title ?? name), tags: ['tool'],
    inputModes: JSON_DATA, outputModes: [...JSON_DATA, ...TEXT],
  }
}

/** Of those with one id the last, where the first stood. Tags are a must of the card, not of the author. */
function uniqueSkills(skills: readonly Skill[]): readonly Skill[] {
  const byId = new Map<string, Skill>()
  for (const skill of skills) {
    const { id, tags } = skill
    byId.set(id, tags === undefined || tags.length === 0 ? { ...skill, tags: [id] } : skill)
  }
  return [...byId.values()]
}
