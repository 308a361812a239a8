/**
 * The tools that a client sees: the author's own, and one for each agent and group.
 *
 * An agent is `execute_<id>_task(prompt)`, and, callable but not listed, `ask_<id>(message, session_id?)`.
 * A group adds `execute_<group>_workflow(query)` and `list_agents()`.
 */
import { isRecord } from '../core/content.ts'
import { LiveCall } from '../core/call.ts'
import { CONVERSATION_ID } from '../core/conversation.ts'
import { speak, timeoutOf } from '../core/operations.ts'
import { defineTool } from '../core/tool.ts'
import { headersFor } from './param-headers.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import type { ChatMessage } from '../core/conversation.ts'
import type { Service } from '../core/service.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Tool, ToolResultInput } from '../core/tool.ts'

/** Tools by name. */
export interface ToolTable {
  /** In stable order: agents, groups, then tools as they were given. */
  readonly listed: readonly Tool[]
  find(name: string): Tool | undefined
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
  return { listed, find: (name) => byName.get(name) }
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
    run: (args, call) => say(service, who, textIn(args, argument), live(call)),
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
    run({ message, session_id: sessionId }, given) {
      const call = live(given)
      if (sessionId === undefined) return say(service, who, message, call)
      const { conversations } = service
      const owner = call.principal.id
      const recalled = (known: readonly ChatMessage[]): ToolResultInput | Promise<ToolResultInput> => {
        call.conversationHistory = known
        return say(service, who, message, call, (said) => conversations.record(owner, sessionId, [
          { role: 'user', content: message }, { role: 'assistant', content: said },
        ], known))
      }
      const known = conversations.history(owner, sessionId)
      return known instanceof Promise ? known.then(recalled) : recalled(known)
    },
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
  service: Service, who: Agent | Group, prompt: string, call: LiveCall,
  onSaid?: (text: string) => MaybePromise<void>,
): ToolResultInput | Promise<ToolResultInput> {
  let pieces = 0
  const finish = (outcome: Answer): ToolResultInput | Promise<ToolResultInput> => {
    const { content, data, state, text } = outcome
    if (state === 'failed' || state === 'rejected') return { content, isError: true }
    const result = data === undefined ? { content } : { content, structuredContent: data }
    const recorded = onSaid?.(text)
    return recorded instanceof Promise ? recorded.then(() => result) : result
  }
  const wantsPieces = call.metadata['progressToken'] !== undefined
  const outcome = speak(service, who, prompt, call, wantsPieces ? (piece) => {
    if (piece.type === 'text') call.progress(++pieces, undefined, piece.text)
  } : undefined)
  return outcome instanceof Promise ? outcome.then(finish) : finish(outcome)
}

function textIn(args: unknown, name: string): string {
  return isRecord(args) ? String(args[name]) : ''
}

// Every handler's call is one of the house's own; the public type just shows less of it.
function live(call: Call): LiveCall {
  if (call instanceof LiveCall) return call
  throw new TypeError('An agent runs only within a call')
}
