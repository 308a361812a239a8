/**
 * Whatever can be served, sorted into its kinds: a bare function, definitions, lists of them.
 */
import { defineAgent, defineGroup } from './agent.ts'
import { isRecord } from './content.ts'
import { show } from './define.ts'
import { definePrompt } from './prompt.ts'
import { defineResource, defineResourceTemplate } from './resource.ts'
import { defineTool } from './tool.ts'
import type { Agent, AgentLike, Group, GroupDefinition } from './agent.ts'
import type { Prompt, PromptDefinition } from './prompt.ts'
import type {
  Resource, ResourceDefinition, ResourceTemplate, ResourceTemplateDefinition,
} from './resource.ts'
import type { Tool, ToolDefinition } from './tool.ts'

/** A tool as it may be given. */
export type ToolLike = Tool | ToolDefinition

/** A resource as it may be given. */
export type ResourceLike = Resource | ResourceDefinition

/** A resource template as it may be given. */
export type ResourceTemplateLike = ResourceTemplate | ResourceTemplateDefinition

/** A prompt as it may be given. */
export type PromptLike = PromptDefinition

/** What one server serves, by kind. */
export interface Offer {
  readonly agents?: readonly AgentLike[] | undefined
  readonly groups?: readonly (Group | GroupDefinition)[] | undefined
  readonly tools?: readonly ToolLike[] | undefined
  readonly resources?: readonly ResourceLike[] | undefined
  readonly resourceTemplates?: readonly ResourceTemplateLike[] | undefined
  readonly prompts?: readonly PromptLike[] | undefined
}

/** One thing of any kind. */
type Thing = AgentLike | Group | GroupDefinition | ToolLike | ResourceLike | ResourceTemplateLike | PromptLike

/** What `launch` takes: one thing, a list of things, or things by kind. */
export type Subject = Thing | Offer | readonly Thing[]

/** Everything defined and frozen. */
export interface Defined {
  readonly agents: readonly Agent[]
  readonly groups: readonly Group[]
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  readonly prompts: readonly Prompt[]
}

/** Defines what an offer holds. */
export function define(offer: Offer): Defined {
  return {
    agents: listOf('agents', offer.agents).map(defineAgent),
    groups: listOf('groups', offer.groups).map((group) => defineGroup(group)),
    tools: listOf('tools', offer.tools).map((tool) => defineTool(tool)),
    resources: listOf('resources', offer.resources).map((resource) => defineResource(resource)),
    resourceTemplates: listOf('resourceTemplates', offer.resourceTemplates)
      .map((template) => defineResourceTemplate(template)),
    prompts: listOf('prompts', offer.prompts).map((prompt) => definePrompt(prompt)),
  }
}

/**
 * Sorts a subject. A list of two or more agents is a group named `name`, in sequence, unless it holds a
 * group already. Throws `TypeError` for what can be none of the kinds.
 */
export function sortOut(subject: Subject, name: string): Defined {
  const offer = isOffer(subject) ? subject : undefined
  const things: readonly unknown[] = offer === undefined ? [subject].flat() : []
  const sorted = {
    agents: [...offer?.agents ?? []],
    groups: [...offer?.groups ?? []],
    tools: [...offer?.tools ?? []],
    resources: [...offer?.resources ?? []],
    resourceTemplates: [...offer?.resourceTemplates ?? []],
    prompts: [...offer?.prompts ?? []],
  }
  for (const thing of things) {
    if (typeof thing === 'function') sorted.agents.push(thing as AgentLike)
    else if (!isRecord(thing)) throw new TypeError(unfit(thing))
    else if ('agents' in thing) sorted.groups.push(thing as unknown as GroupDefinition)
    else if (thing['kind'] === 'tool' || 'inputSchema' in thing) {
      sorted.tools.push(thing as unknown as ToolLike)
    }
    else if ('uriTemplate' in thing) sorted.resourceTemplates.push(thing as unknown as ResourceTemplateLike)
    else if ('uri' in thing && 'read' in thing) sorted.resources.push(thing as unknown as ResourceLike)
    else if ('get' in thing && !('run' in thing)) sorted.prompts.push(thing as unknown as PromptLike)
    else if (typeof thing['run'] === 'function') sorted.agents.push(thing as unknown as AgentLike)
    else throw new TypeError(unfit(thing))
  }
  const defined = define(sorted)
  if (!Array.isArray(subject) || defined.groups.length > 0 || defined.agents.length < 2) return defined
  return { ...defined, groups: [defineGroup({ name, agents: defined.agents })] }
}

/** The members by which an offer is told from a definition. */
const offered = ['tools', 'groups', 'resources', 'resourceTemplates', 'prompts'] as const

function isOffer(subject: Subject): subject is Offer {
  if (!isRecord(subject) || 'run' in subject) return false
  // A group has agents too, but a name as well.
  return offered.some((member) => member in subject) || ('agents' in subject && !('name' in subject))
}

function listOf<T>(member: string, list: readonly T[] | undefined): readonly T[] {
  if (list === undefined || Array.isArray(list)) return list ?? []
  throw new TypeError(`'${member}' is ${show(list)}; write a list, as in { ${member}: [one] }`)
}

function unfit(thing: unknown): string {
  return `Cannot serve ${show(thing)}: write a function (prompt) => answer, or use defineAgent, `
    + `defineGroup, defineTool, defineResource, defineResourceTemplate or definePrompt`
}
