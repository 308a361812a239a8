/**
 * The tools that a client sees: the author's own, and one for each agent and group.
 *
 * An agent is `execute_<id>_task(prompt)`, and, callable but not listed, `ask_<id>(message, session_id?)`.
 * A group adds `execute_<group>_workflow(query)` and `list_agents()`.
 */
import { isRecord } from '../../define/content.ts'
import { runConversationTurn, timeoutOf } from '../../run/answer-message.ts'
import { CONVERSATION_ID } from '../../state/conversation.ts'
import { LiveCall } from '../../define/live-call.ts'
import { defineTool } from '../../define/tool.ts'
import { andThen } from '../../util/thenable.ts'
import { decodeHeaderValue } from '../../wire/base64.ts'
import type { MaybePromise } from '../../util/thenable.ts'
import type { Agent, Group } from '../../define/agent.ts'
import type { Answer } from '../../define/answer.ts'
import type { Call } from '../../define/call.ts'
import type { Content } from '../../define/content.ts'
import type { Service } from '../../run/service.ts'
import type { Tool, ToolResultInput } from '../../define/tool.ts'
import type { Exchange } from '../../http/message/exchange.ts'

/** Tools by name. */
export interface ToolTable {
  /** In stable order: agents, groups, then tools as they were given. */
  readonly listed: readonly Tool[]
  /** Those that are callable, listed or not. */
  readonly byName: ReadonlyMap<unknown, Tool>
}

/** Makes the table of what the catalog holds now. Throws `TypeError` where two things have one name. */
export function toolTable(service: Service): ToolTable {
  const { agents, groups, tools } = service.catalog
  const listed = [
    ...agents.map((agent) => runTool(service, agent, `execute_${plain(agent)}_task`, 'prompt')),
    ...groups.map((group) => runTool(service, group, `execute_${plain(group)}_workflow`, 'query')),
    ...groups.length > 0 ? [listTool(service)] : [],
    ...tools,
  ]
  const aliases = [...agents, ...groups].map((who) => askTool(service, who))
  const byName = new Map<string, Tool>()
  for (const tool of [...listed, ...aliases]) {
    if (byName.has(tool.name)) {
      throw new TypeError(`Two tools are named '${tool.name}'; agents take execute_<id>_task and ask_<id>, `
        + 'rename the other')
    }
    byName.set(tool.name, tool)
    headersFor(tool)
  }
  return { listed, byName }
}

function plain({ id }: Agent | Group): string {
  return id.replaceAll('-', '_')
}

function runTool(service: Service, who: Agent | Group, name: string, argument: string): Tool {
  const what = who.description === '' ? '' : ` ${who.description}`
  return defineTool({
    name,
    title: who.name,
    description: who.kind === 'agent'
      ? `Executes the primary task of ${who.name} with the given prompt.${what}`
      : `Runs the workflow of ${who.name} with the given query.${what}`,
    inputSchema: { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] },
    timeoutMs: timeoutOf(service, who),
    run: (args, call) => say(service, who, textIn(args, argument), undefined, live(call)),
  })
}

function askTool(service: Service, who: Agent | Group): Tool {
  return defineTool({
    name: `ask_${plain(who)}`,
    description: `Asks ${who.name}.`,
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
    timeoutMs: timeoutOf(service, who),
    run: ({ message, session_id: sessionId }, call) => say(service, who, message, sessionId, live(call)),
  })
}

function listTool(service: Service): Tool {
  return defineTool({
    name: 'list_agents',
    description: 'Lists the agents that can be asked.',
    annotations: { readOnlyHint: true },
    run: () => ({
      agents: service.catalog.agents.map(({ id, name, description }) => ({ id, name, description })),
    }),
  })
}

/** Runs the agent; what it says on the way becomes progress, for those who want to know. */
function say(
  service: Service, who: Agent | Group, prompt: string, conversationId: string | undefined, call: LiveCall,
): MaybePromise<ToolResultInput> {
  let pieces = 0
  const emit = call.metadata['progressToken'] === undefined ? undefined : (piece: Content): void => {
    if (piece.type === 'text') call.progress(++pieces, undefined, piece.text)
  }
  const message = { prompt, conversationId, isNamed: conversationId !== undefined }
  const answer = runConversationTurn(service, who, message, call, emit)
  return andThen(answer, resultOf)
}

function resultOf({ content, data, state, artifacts = [] }: Answer): ToolResultInput {
  const blocks = artifacts.length === 0 ? content : [...content, ...artifacts.flatMap(({ parts }) => parts)]
  if (state === 'failed' || state === 'rejected') return { content: blocks, isError: true }
  return data === undefined ? { content: blocks } : { content: blocks, structuredContent: data }
}

function textIn(args: unknown, name: string): string {
  return isRecord(args) ? String(args[name]) : ''
}

// Every handler's call is one of the house's own; the public type just shows less of it.
function live(call: Call): LiveCall {
  if (call instanceof LiveCall) return call
  throw new TypeError('An agent runs only within a call')
}

/** One argument with a header: where it is, and what the header is called. */
interface ParamHeader { readonly path: readonly string[]; readonly header: string; readonly type: string }

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const types: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])
const known = new WeakMap<Tool, readonly ParamHeader[]>()

/** The headers of a tool. Throws `TypeError` where an annotation is one that clients would refuse. */
export function headersFor(tool: Tool): readonly ParamHeader[] {
  let headers = known.get(tool)
  if (headers === undefined) {
    const found: ParamHeader[] = []
    collect(found, tool, tool.input.json, [], true)
    headers = found
    const names = headers.map(({ header }) => header.toLowerCase())
    const twin = names.find((name, index) => names.indexOf(name) !== index)
    if (twin !== undefined) {
      throw mistake(tool, `two arguments have the header '${twin}'; give each a name of its own`)
    }
    known.set(tool, headers)
  }
  return headers
}

/**
 * Walks the schema and adds what it finds. Only `properties` lead to arguments that a client can find without
 * validating.
 */
function collect(
  found: ParamHeader[], tool: Tool, schema: unknown, path: readonly string[], isReachable: boolean,
): void {
  if (Array.isArray(schema)) for (const item of schema) collect(found, tool, item, path, false)
  if (!isRecord(schema)) return
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'x-mcp-header') {
      found.push(checked(tool, schema, path, isReachable, value))
    } else if (keyword === 'properties' && isRecord(value)) {
      for (const [name, member] of Object.entries(value)) {
        collect(found, tool, member, [...path, name], isReachable)
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

/** The first header of a call that does not say what the body says. */
export function paramFault(tool: Tool | undefined, args: unknown, exchange: Exchange): string | undefined {
  if (tool === undefined) return undefined
  for (const { path, header, type } of headersFor(tool)) {
    if (!agrees(valueAt(args, path), exchange.header(header.toLowerCase()), type)) return header
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
  const said = header === undefined ? undefined : decodeHeaderValue(header)
  if (said === undefined) return false
  // An integer may be spelled in several ways; what is no number at all is the schema's to find.
  if (type === 'integer' && typeof value === 'number') {
    return /^-?\d+(?:\.0+)?$/.test(said) && Number(said) === value && Number.isSafeInteger(Number(said))
  }
  return said === (typeof value === 'string' ? value : String(value))
}
