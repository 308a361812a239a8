/**
 * Tools as skills: a message may name a tool and have its arguments as data. A server of tools alone has one
 * agent, named like the server, which runs those tools and asks for what it cannot read.
 */
import { ownAgent } from '../../../kernel/define/agent.ts'
import { ownDefinition } from '../../../kernel/define/around.ts'
import { isRecord, textOf } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { allowed } from '../../../kernel/define/principal.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { AnswerInput } from '../../../kernel/define/answer.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { Principal } from '../../../kernel/define/principal.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Tool, ToolResult } from '../../../kernel/define/tool.ts'

/** A tool with its arguments, not checked yet. */
export interface ToolCall { readonly tool: Tool; readonly args: unknown }

/** Tools that are listed for a client that has named none. */
const MAX_NAMED = 50

/** The agent at the root: a group, an agent, or the tools. Undefined where there is none of them. */
export function rootOf(service: Service): Agent | Group | undefined {
  const { catalog } = service
  return catalog.root ?? (catalog.tools.length > 0 ? service.use(makeToolAgent) : undefined)
}

/** Agents and groups have their own paths, and so have the tools of a server without any. */
export function agentNamed(service: Service, id: string): Agent | Group | undefined {
  const root = rootOf(service)
  return root !== undefined && root.id === id ? root : service.catalog.runnable(id)
}

/** Whether it is the agent of a server of tools alone. */
export function isToolAgent(service: Service, agent: Agent | Group): boolean {
  return service.catalog.root === undefined && rootOf(service) === agent
}

function makeToolAgent(service: Service): Agent {
  return ownDefinition(ownAgent({
    name: service.name, id: 'tools', description: service.description || `The tools of ${service.name}.`,
    run: (_prompt, { principal }) => askForTool(service, principal),
  }))
}

/**
 * The tool that a message runs, where there is one: the `skill` of a data part; or the only tool, where it
 * takes one text and the message is text. In a server with agents, the one at the root has the tools.
 */
export function toolCallFor(
  service: Service, agent: Agent | Group, parts: readonly Content[],
): ToolCall | undefined {
  const isAlone = isToolAgent(service, agent)
  if (!isAlone && agent !== service.catalog.root) return undefined
  for (const part of parts) {
    if (part.type !== 'data' || !isRecord(part.data)) continue
    const { skill, arguments: args } = part.data
    const tool = typeof skill === 'string' ? service.catalog.tool(skill) : undefined
    if (tool !== undefined) return { tool, args: args ?? {} }
  }
  return isAlone ? callByText(service.catalog.tools, parts) : undefined
}

function callByText([tool, ...others]: readonly Tool[], parts: readonly Content[]): ToolCall | undefined {
  const name = tool === undefined || others.length > 0 ? undefined : onlyText(tool)
  const texts = parts.flatMap((part) => part.type === 'text' ? part.text : [])
  if (tool === undefined || name === undefined || texts.length === 0) return undefined
  return { tool, args: { [name]: texts.join('\n') } }
}

/** The name of the one argument that a tool needs, where that is a text. */
function onlyText({ input: { json } }: Tool): string | undefined {
  const { properties, required } = json
  const [name, ...more]: readonly unknown[] = Array.isArray(required) ? required : []
  if (typeof name !== 'string' || more.length > 0 || !isRecord(properties)) return undefined
  const form = properties[name]
  return isRecord(form) && form['type'] === 'string' ? name : undefined
}

/** A tool's result as an answer: one with an error is a failure with that text. */
export function answerOfTool({ content, structuredContent: data, isError }: ToolResult): Answer {
  return { text: textOf(content), content, state: isError === true ? 'failed' : 'completed', data }
}

function askForTool({ catalog }: Service, principal: Principal): AnswerInput {
  const tools = allowed(principal, catalog.tools)
  if (tools.length === 0) throw new Fault('forbidden', 'The caller has the scopes of none of the tools')
  const skills = tools.slice(0, MAX_NAMED).map(({ name, description, input }) => (
    { skill: name, description, arguments: input.json }
  ))
  const more = tools.length > MAX_NAMED ? ` and ${tools.length - MAX_NAMED} more` : ''
  return {
    state: 'input-required',
    text: 'Send a data part { "skill", "arguments" }, where skill is one of '
      + `${skills.map(({ skill }) => skill).join(', ')}${more}`,
    content: [{ type: 'data', data: { skills } }],
  }
}
