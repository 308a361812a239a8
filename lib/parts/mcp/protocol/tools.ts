/**
 * The tools that a client sees: the author's own, and one for each agent and group.
 *
 * An agent is `execute_<id>_task(prompt)`, and, callable but not listed, `ask_<id>(message, session_id?)`.
 * A group adds `execute_<group>_workflow(query)` and `list_agents()`.
 */
import { ownDefinition } from '../../../kernel/define/around.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import { runConversationTurn, timeoutOf } from '../../../floors/conversations/answer-message.ts'
import { CONVERSATION_ID } from '../../../floors/conversations/conversation-page.ts'
import { allowed } from '../../../kernel/define/principal.ts'
import { ownTool } from '../../../kernel/define/tool.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { onlyValue } from '../../../kernel/wire/only-value.ts'
import { decodeHeaderValue } from './header-value.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { AnswerEvent } from '../../../floors/answers/run-event.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Call } from '../../../kernel/define/call.ts'
import type { LiveCall } from '../../../kernel/define/live-call.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { Tool, ToolResultInput } from '../../../kernel/define/tool.ts'
import type { Exchange } from '../../../kernel/http/message/exchange.ts'

export interface ToolTable {
  /** In stable order: agents, groups, then tools as they were given. */
  readonly listed: readonly Tool[]
  /** The tool of a name, listed or not. */
  named(name: unknown): Tool | undefined
}

/** The tools of the catalog as it is now. Throws `TypeError` where two tools have one name. */
export function toolTable(service: Service): ToolTable {
  const { agents, groups, tools } = service.catalog
  const listed = [
    ...agents.map((agent) => runTool(service, agent, `execute_${plain(agent)}_task`, 'prompt')),
    ...groups.map((group) => runTool(service, group, `execute_${plain(group)}_workflow`, 'query')),
    ...groups.length > 0 ? [listTool(service)] : [],
    ...tools,
  ]
  const byName = new Map<unknown, Tool>()
  const take = (name: string): void => {
    if (!byName.has(name) && !aliases.has(name)) return
    throw new TypeError(`Two tools are named '${name}'; agents take execute_<id>_task and ask_<id>, `
      + 'groups execute_<id>_workflow and list_agents, rename the other')
  }
  const aliases = new Map<unknown, Agent | Group>()
  for (const tool of listed) {
    take(tool.name)
    byName.set(tool.name, tool)
    headersFor(tool)
  }
  for (const agent of [...agents, ...groups]) {
    take(aliasOf(agent))
    aliases.set(aliasOf(agent), agent)
  }
  return {
    listed,
    named(name) {
      const known = byName.get(name)
      const agent = known === undefined ? aliases.get(name) : undefined
      if (agent === undefined) return known
      // Made when it is first called: most clients call what is listed.
      const alias = askTool(service, agent)
      byName.set(name, alias)
      return alias
    },
  }
}

function aliasOf(agent: Agent | Group): string {
  return `ask_${plain(agent)}`
}

function plain({ id }: Agent | Group): string {
  return id.replaceAll('-', '_')
}

function runTool(service: Service, agent: Agent | Group, name: string, argument: string): Tool {
  const what = agent.description === '' ? '' : ` ${agent.description}`
  return ownDefinition(ownTool({
    name,
    title: agent.name,
    description: agent.kind === 'agent'
      ? `Executes the primary task of ${agent.name} with the given prompt.${what}`
      : `Runs the workflow of ${agent.name} with the given query.${what}`,
    inputSchema: { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] },
    timeoutMs: timeoutOf(service, agent),
    scopes: agent.scopes,
    run: (args, call) => runAgent(service, agent, String(args[argument]), undefined, call),
  }))
}

function askTool(service: Service, agent: Agent | Group): Tool {
  return ownDefinition(ownTool({
    name: aliasOf(agent),
    description: `Asks ${agent.name}.`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string' },
        session_id: {
          type: 'string', pattern: CONVERSATION_ID.source, description: 'Goes on with a conversation.',
        },
      },
      required: ['message'],
    },
    timeoutMs: timeoutOf(service, agent),
    scopes: agent.scopes,
    run: ({ message, session_id: id }, call) => runAgent(service, agent, message, id, call),
  }))
}

function listTool(service: Service): Tool {
  return ownDefinition(ownTool({
    name: 'list_agents',
    description: 'Lists the agents that can be asked.',
    annotations: { readOnlyHint: true },
    run: (_args, { principal }) => ({
      agents: allowed(principal, service.catalog.agents)
        .map(({ id, name, description }) => ({ id, name, description })),
    }),
  }))
}

/** Runs the agent; pieces of its answer become progress where the client asked for that. */
function runAgent(
  service: Service, agent: Agent | Group, prompt: string, conversationId: string | undefined, call: Call,
): MaybePromise<ToolResultInput> {
  let pieces = 0
  const emit = call.metadata['progressToken'] === undefined ? undefined : (event: AnswerEvent): void => {
    if (event.type !== 'piece' || event.content.type !== 'text') return
    call.progress(++pieces, undefined, event.content.text)
  }
  const message = { prompt, conversationId, isNamed: conversationId !== undefined }
  return andThen(runConversationTurn(service, agent, message, call as LiveCall, emit), resultOf)
}

function resultOf({ content, data, state, artifacts = [] }: Answer): ToolResultInput {
  const blocks = artifacts.length === 0 ? content : [...content, ...artifacts.flatMap(({ parts }) => parts)]
  const isError = state === 'failed' || state === 'rejected'
  return {
    content: blocks, ...data !== undefined && { structuredContent: data }, ...isError && { isError },
  }
}

/**
 * `x-mcp-header`: an argument of a tool that a client repeats as a `Mcp-Param-*` header, so that proxies can
 * route by it. Checked when a tool is served, and on each call against the body.
 * Spec: MCP 2026-07-28, Transports, Custom Headers from Tool Parameters.
 */
interface ParamHeader { readonly path: readonly string[]; readonly header: string; readonly type: string }

const TOKEN = /^[!#$%&'*+\-.^_\x60|~0-9A-Za-z]+$/
const types: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])
const known = new WeakMap<Tool, readonly ParamHeader[]>()

/** The headers of a tool. Throws `TypeError` for an annotation that clients would refuse. */
function headersFor(tool: Tool): readonly ParamHeader[] {
  const made = known.get(tool)
  if (made !== undefined) return made
  const headers: ParamHeader[] = []
  collect(headers, tool, tool.input.json, [], true)
  const names = headers.map(({ header }) => header.toLowerCase())
  const twin = names.find((name, index) => names.indexOf(name) !== index)
  if (twin !== undefined) {
    throw mistake(tool, `two arguments have the header '${twin}'; give each a name of its own`)
  }
  known.set(tool, headers)
  return headers
}

/** Walks the schema. Only `properties` lead to arguments that a client can find without validating. */
function collect(
  found: ParamHeader[], tool: Tool, schema: unknown, path: readonly string[], isReachable: boolean,
): void {
  if (Array.isArray(schema)) for (const item of schema) collect(found, tool, item, path, false)
  if (!isRecord(schema)) return
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword]
    if (keyword === 'x-mcp-header') {
      found.push(checked(tool, schema, path, isReachable, value))
    } else if (keyword === 'properties' && isRecord(value)) {
      for (const name of Object.keys(value)) {
        collect(found, tool, value[name], [...path, name], isReachable)
      }
    } else if (typeof value === 'object' && !literals.has(keyword)) {
      collect(found, tool, value, path, false)
    }
  }
}

/** Keywords whose values are data, not schemas. */
const literals: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required'])

function checked(
  tool: Tool, schema: Readonly<Record<string, unknown>>, path: readonly string[], isReachable: boolean,
  value: unknown,
): ParamHeader {
  const where = `'${path.join('.')}'`
  if (typeof value !== 'string' || !TOKEN.test(value)) {
    throw mistake(tool, `x-mcp-header of ${where} must be a header token, as in 'Region'`)
  }
  if (!isReachable || path.length === 0) {
    throw mistake(tool, `x-mcp-header of ${where} must be on a property that properties alone lead to`)
  }
  if (!types.has(schema['type'])) {
    throw mistake(tool, `${where} has x-mcp-header, so its type must be string, integer or boolean`)
  }
  return { path, header: `Mcp-Param-${value}`, type: String(schema['type']) }
}

function mistake(tool: Tool, why: string): TypeError {
  return new TypeError(`The tool '${tool.name}': ${why}`)
}

/** The first header of a call that differs from the body. `mayBeMissing`: only those that are there count. */
export function paramFault(
  tool: Tool | undefined, args: unknown, exchange: Exchange, mayBeMissing = false,
): string | undefined {
  if (tool === undefined) return undefined
  for (const { path, header, type } of headersFor(tool)) {
    const given = exchange.header(header.toLowerCase())
    if (given === undefined && mayBeMissing) continue
    const value = valueAt(args, path)
    if (!agrees(value, given, type) && !agrees(value, given && onlyValue(given), type)) return header
  }
  return undefined
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  let value = args
  for (const name of path) value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

function agrees(value: unknown, header: string | undefined, type: string): boolean {
  if (value === undefined || value === null) return header === undefined
  const text = header === undefined ? undefined : decodeHeaderValue(header)
  if (text === undefined) return false
  // An integer may be written in several ways; what is no number at all is found by the schema.
  if (type === 'integer' && typeof value === 'number') {
    return /^-?\d+(?:\.0+)?$/.test(text) && Number(text) === value && Number.isSafeInteger(Number(text))
  }
  return typeof value !== 'object' && text === String(value)
}
