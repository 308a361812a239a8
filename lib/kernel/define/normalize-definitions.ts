/** Whatever can be served, by kind, and one thing of any kind: it is known by its members. */
import { agentFrom, groupFrom } from './agent.ts'
import { isRecord } from './content.ts'
import {
  isPlain, isServedKind, nearest, rejectPromise, show, strayFunction,
} from './validate.ts'
import { definePrompt } from './prompt.ts'
import { defineResource, defineResourceTemplate } from './resource.ts'
import { namedTool, toolFrom } from './tool.ts'
import type { Infer } from '../schema/infer.ts'
import type { Schema, StandardSchema } from '../schema/standard.ts'
import type { Agent, AgentDefinition, AgentLike, Group, GroupDefinition, Run } from './agent.ts'
import type { Adapters, ForeignTool } from './adapters.ts'
import type { Call } from './call.ts'
import type { Members, ServedKind } from './validate.ts'
import type { Prompt, PromptDefinition } from './prompt.ts'
import type {
  Resource, ResourceDefinition, ResourceTemplate, ResourceTemplateDefinition,
} from './resource.ts'
import type { SchemaInput, Tool, ToolDefinition } from './tool.ts'

export type ToolLike = Tool | ToolDefinition

/** The type of the schema that checks arguments: of `validate` where there is one, else of `inputSchema`. */
type Checking<S> = [Extract<S, StandardSchema>] extends [never] ? S : Extract<S, StandardSchema>

/** A tool as it is written; a compiler knows the arguments of its function by its schemas, `S`. */
type ToolInPlace<S> = Omit<ToolDefinition, 'run' | 'validate'> & {
  readonly inputSchema?: (S & Schema) | SchemaInput | undefined
  /** Not by the name of the type: a schema that bears it would be inferred to be that, and not `S`. */
  readonly validate?: (S & StandardSchema) | Pick<StandardSchema, '~standard'> | undefined
  run(args: Infer<Checking<S>>, call: Call): unknown
}

/** What one server serves, by kind. `T` are the types of the tools' schemas, one for each tool. */
export interface Offer<T extends readonly unknown[] = readonly unknown[]> {
  readonly agents?: readonly AgentLike[] | undefined
  readonly groups?: readonly (Group | GroupDefinition)[] | undefined
  readonly tools?: { readonly [K in keyof T]: Tool | ToolInPlace<T[K]> } | undefined
  readonly resources?: readonly (Resource | ResourceDefinition)[] | undefined
  readonly resourceTemplates?: readonly (ResourceTemplate | ResourceTemplateDefinition)[] | undefined
  readonly prompts?: readonly (Prompt | PromptDefinition)[] | undefined
}

/** A tool whose name is its key. */
type NamelessTool = Omit<ToolDefinition, 'name'> & { readonly name?: undefined }

/** Tools of other frameworks among one's own, in a list or by their names. */
export type ForeignTools =
  | readonly (Tool | ForeignTool)[]
  | { readonly [name: string]: Tool | NamelessTool | ForeignTool }

/** The members by which the kind of a thing is known. */
type Mark = 'kind' | 'agents' | 'inputSchema' | 'uri' | 'uriTemplate'

/** A thing without the marks of other kinds: so a compiler knows its kind, and what its handler gets. */
export type Only<T> = T & { readonly [K in Exclude<Mark, keyof T>]?: undefined }

/** A tool without a list: without a schema its definition would be an agent's. */
export type LoneTool<S = unknown> = Only<ToolInPlace<S> & { readonly inputSchema: SchemaInput }>

/** One of them, but for an agent or a tool that is written in place. */
export type Other =
  | Only<Agent> | Only<Run> | Only<Group> | Only<GroupDefinition> | Only<Tool>
  | Only<Resource> | Only<ResourceDefinition> | Only<ResourceTemplate> | Only<ResourceTemplateDefinition>
  | Only<Prompt> | Only<PromptDefinition>

/** One thing of any kind, made or as its definition is written. */
export type Thing = Other | Only<AgentDefinition> | LoneTool

export interface Defined {
  readonly agents: readonly Agent[]
  readonly groups: readonly Group[]
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplate[]
  readonly prompts: readonly Prompt[]
}

export function defineOffer(offer: Offer, adapters: Adapters): Defined {
  return {
    agents: listOf('agents', offer.agents).map((agent) => agentFrom(agent, adapters)),
    groups: listOf('groups', offer.groups).map((group) => groupFrom(group, adapters)),
    tools: defineTools(offer.tools, adapters),
    resources: listOf('resources', offer.resources).map((resource) => defineResource(resource)),
    resourceTemplates: listOf('resourceTemplates', offer.resourceTemplates)
      .map((template) => defineResourceTemplate(template)),
    prompts: listOf('prompts', offer.prompts).map((prompt) => definePrompt(prompt)),
  }
}

/** Defines one thing of any kind. Throws `TypeError` for what can be none. */
export function defineThing(
  thing: unknown, adapters: Adapters,
): Agent | Group | Tool | Resource | ResourceTemplate | Prompt {
  if (adapters.agent(thing) !== undefined) return agentFrom(thing as AgentLike, adapters)
  if (adapters.toolKind(thing) !== undefined) return toolFrom(thing as ToolLike, adapters)
  switch (kindOf(thing, adapters)) {
    case 'agent': return agentFrom(thing as AgentLike, adapters)
    case 'group': return groupFrom(thing as GroupDefinition, adapters)
    case 'tool': return toolFrom(thing as ToolLike, adapters)
    case 'resource': return defineResource(thing as Resource)
    case 'resource-template': return defineResourceTemplate(thing as ResourceTemplate)
    case 'prompt': return definePrompt(thing as Prompt)
  }
}

/** What only a tool has, besides its schema. */
const tooling: ReadonlySet<string> = new Set(['outputSchema', 'annotations', 'task', 'ui'])

/**
 * The kind of a thing by its members; what it lacks its definition complains of. An object of a class may
 * have members of its own, so fewer of them count.
 */
function kindOf(thing: unknown, adapters: Adapters): ServedKind {
  if (typeof thing === 'function') return 'agent'
  if (!isRecord(thing)) throw new TypeError(unfit(thing, adapters))
  if (isServer(thing)) {
    throw new TypeError('Cannot serve a server that is made already: call its listen(), or give what it '
      + 'serves, as in { tools: [tool] }')
  }
  if (isServedKind(thing['kind'])) return thing['kind']
  if ('agents' in thing) return 'group'
  if ('inputSchema' in thing) return 'tool'
  if ('uriTemplate' in thing) return 'resource-template'
  if ('uri' in thing && (isPlain(thing) || 'read' in thing)) return 'resource'
  if (isPlain(thing) && isTooling(Object.keys(thing))) return 'tool'
  if ('get' in thing && !('run' in thing)) return 'prompt'
  if ('run' in thing) return 'agent'
  if (typeof thing['name'] === 'string' && strayFunction(thing, {}) !== undefined) return 'agent'
  throw new TypeError(unfit(thing, adapters))
}

function isServer(thing: Readonly<Record<string, unknown>>): boolean {
  return typeof thing['listen'] === 'function' && typeof thing['close'] === 'function' && !('run' in thing)
}

/** Whether members are a tool's, its schema misspelled included. */
function isTooling(members: readonly string[]): boolean {
  return members.some((member) => tooling.has(member) || nearest(member, ['inputSchema']) !== undefined)
}

export const offered: Members<Offer> = {
  agents: true, groups: true, tools: true, resources: true, resourceTemplates: true, prompts: true,
}

/** A list, or tools by name, as some frameworks have them. */
export function defineTools(tools: Offer['tools'] | ForeignTools, adapters: Adapters): readonly Tool[] {
  if (!areNamedTools(tools, adapters)) {
    return listOf('tools', tools as readonly ToolLike[]).map((tool) => toolFrom(tool, adapters))
  }
  return Object.entries(tools as Readonly<Record<string, ToolLike>>).map(([name, tool]) => {
    if (isRecord(tool) || typeof tool === 'function') return namedTool(name, tool, adapters)
    throw new TypeError(`'tools' has '${name}', which is ${show(tool)} and no tool; write tools: [tool], or `
      + 'tools: { name: tool }')
  })
}

/** Whether it is tools by their names, and not one tool. */
export function areNamedTools(
  tools: unknown, adapters: Adapters,
): tools is Readonly<Record<string, unknown>> {
  return isRecord(tools) && isPlain(tools) && typeof tools['run'] !== 'function'
    && adapters.toolKind(tools) === undefined
}

function listOf<T>(member: string, list: readonly T[] | undefined): readonly T[] {
  if (list === undefined || Array.isArray(list)) return list ?? []
  rejectPromise(list)
  throw new TypeError(`'${member}' is ${show(list)}; write a list, as in { ${member}: [one] }`)
}

function unfit(thing: unknown, adapters: Adapters): string {
  rejectPromise(thing)
  const unknown = isRecord(thing) ? adapters.describe(thing) : undefined
  if (unknown !== undefined) return unknown
  for (const name of isRecord(thing) ? Object.keys(thing) : []) {
    const meant = nearest(name, Object.keys(offered))
    if (meant === name) return `Cannot serve lists as one thing; give each of its ${name} by itself`
    if (meant !== undefined) return `Cannot serve an object with '${name}'; did you mean '${meant}'?`
  }
  return `Cannot serve ${show(thing)}: write a function (prompt) => answer, or use defineAgent, `
    + `defineGroup, defineTool, defineResource, defineResourceTemplate or definePrompt`
}
