/**
 * The functions that a client of OpenAI offers among its tools, and runs itself; which of them it wants to be
 * called, and how many. A function is named as in chat completions or as in Responses, whichever is asked.
 * Spec: https://platform.openai.com/docs/guides/function-calling
 */
import { isGiven, isRecord } from '../../kernel/define/content.ts'
import { show } from '../../kernel/define/validate.ts'
import { clientToolOf, lastOfEach } from '../../floors/chat/client-tools.ts'
import { listIn, wrongMember } from '../../floors/chat/members.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { MadeToolCall } from '../../floors/answers/tool-calls.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { ClientTool } from '../../kernel/define/client-tool.ts'
import type { Fault } from '../../kernel/define/fault.ts'
import type { Log } from '../../kernel/define/log.ts'

const NAME = /^[\w.-]{1,128}$/

/**
 * Throws a `Fault` for what can be read in no way, or not be obeyed. `isFlat`: the members of a function
 * stand beside its type, as in Responses.
 */
export function decodeTools(tools: unknown, isFlat = false): readonly ClientTool[] {
  if (!isGiven(tools)) return []
  const all: ClientTool[] = []
  listIn(tools, 'tools').forEach((tool, index) => addTools(all, tool, `tools[${index}]`, isFlat))
  return lastOfEach(all)
}

/** Those of other types are for servers that have them, beside the functions. */
function addTools(all: ClientTool[], tool: unknown, at: string, isFlat: boolean): void {
  const { type, name, tools, function: called } = isRecord(tool) ? tool : {}
  // Clients write a function in the form of either face.
  const isNested = isRecord(called) || (!isFlat && !isGiven(name))
  if (type === 'function') {
    all.push(isNested ? functionOf(called, `${at}.function`) : functionOf(tool, at))
  } else if (type === 'namespace' && isFlat) {
    listIn(tools, `${at}.tools`).forEach((one, index) => {
      if (!isRecord(one) || one['type'] !== 'function') return
      const made = functionOf(one, `${at}.tools[${index}]`)
      all.push({ ...made, name: nameWithin(name, made.name) })
    })
  } else if (typeof type !== 'string') {
    const demand = 'must be a string: "function" for a tool that can be called'
    throw wrongMember(`${at}.type`, demand, { code: 'unsupported_value' })
  }
}

/** The name by which an agent knows a function of a namespace. */
export function nameWithin<T>(namespace: unknown, name: T): T | string {
  return typeof namespace === 'string' && typeof name === 'string' ? `${namespace}__${name}` : name
}

/** How the client knows a function that an agent calls: by its name, of a namespace or of none. */
export function nameOutside(tools: unknown, called: string): { readonly name: string; namespace?: string } {
  for (const tool of listIn(tools, 'tools')) {
    const { type, name: namespace, tools: functions } = isRecord(tool) ? tool : {}
    if (type !== 'namespace' || typeof namespace !== 'string') continue
    for (const one of listIn(functions, 'tools')) {
      const name = isRecord(one) ? one['name'] : undefined
      if (typeof name === 'string' && nameWithin(namespace, name) === called) return { name, namespace }
    }
  }
  return { name: called }
}

function functionOf(given: unknown, at: string): ClientTool {
  const name = isRecord(given) ? given['name'] : undefined
  if (typeof name === 'string' && NAME.test(name)) return clientToolOf(given, at)
  throw wrongMember(`${at}.name`, 'must be 1 to 128 letters, digits, dots, dashes or underscores')
}

type Asked = Pick<Call, 'clientTools' | 'toolChoice'>

const FORMS = 'must be "auto", "none", "required", a function that is named, or allowed_tools'

/** The tools that may be called, and whether one must be. Throws `Fault('invalid')`. */
export function chosenTools(tools: readonly ClientTool[], choice: unknown): Asked {
  if (!isGiven(choice) || choice === 'auto') return { clientTools: tools, toolChoice: 'auto' }
  if (choice === 'none') return { clientTools: [], toolChoice: 'none' }
  if (choice === 'required') return required(tools)
  const type = isRecord(choice) ? choice['type'] : undefined
  if (!isRecord(choice) || typeof type !== 'string') throw wrong(FORMS)
  if (type === 'function') {
    const tool = toolNamed(choice, tools)
    return { clientTools: [tool], toolChoice: { name: tool.name } }
  }
  if (type !== 'allowed_tools') {
    throw wrong(`${FORMS}: no tools of the type ${show(type)} are known here`, 'unsupported_value')
  }
  const { mode, tools: names } = isRecord(choice['allowed_tools']) ? choice['allowed_tools'] : choice
  if (mode !== 'auto' && mode !== 'required') throw wrong('needs the mode "auto" or "required"')
  if (!Array.isArray(names)) throw wrong('needs tools, a list of functions that are named')
  // Those of other types are of nobody here, as in the list of all tools.
  const named = names.filter((one: unknown) => isRecord(one) && one['type'] === 'function')
  const allowed = new Set(named.map((one) => toolNamed(one, tools)))
  const clientTools = tools.filter((tool) => allowed.has(tool))
  return mode === 'required' ? required(clientTools) : { clientTools, toolChoice: mode }
}

/**
 * How many calls of the client's tools one answer may have. What an agent calls by itself is not counted: the
 * client sees none of it. Throws `Fault('invalid')`.
 */
export function mostCalls(body: Readonly<Record<string, unknown>>): number {
  const isParallel = body['parallel_tool_calls'] ?? true
  const most = body['max_tool_calls'] ?? Infinity
  if (typeof isParallel !== 'boolean') throw wrongMember('parallel_tool_calls', 'must be true or false')
  if (most !== Infinity && !(Number.isSafeInteger(most) && Number(most) > 0)) {
    throw wrongMember('max_tool_calls', 'must be a whole number of at least 1')
  }
  return isParallel ? Number(most) : 1
}

/** The first of an answer's calls, as many as the client takes: what they gave comes back to the agent. */
export function callsOf(
  { toolCalls = [] }: Answer, maxCalls: number, log: Log, request: string,
): readonly MadeToolCall[] {
  if (toolCalls.length <= maxCalls) return toolCalls
  log('info', `An answer calls ${toolCalls.length} tools where its client takes ${maxCalls} at a time; the `
    + 'first go out', { request })
  return toolCalls.slice(0, maxCalls)
}

function required(tools: readonly ClientTool[]): Asked {
  if (tools.length > 0) return { clientTools: tools, toolChoice: 'required' }
  throw wrong('is required, and there is no function among the tools that it could be')
}

function toolNamed(choice: unknown, tools: readonly ClientTool[]): ClientTool {
  const members = isRecord(choice) ? choice : {}
  const { name, namespace } = isRecord(members['function']) ? members['function'] : members
  const called = nameWithin(namespace, name)
  const tool = tools.find((one) => one.name === called)
  if (tool !== undefined) return tool
  throw wrong(typeof name === 'string' ? `names ${show(name)}, which is no function among the tools`
    : 'needs the name of a function')
}

function wrong(demand: string, code = 'invalid_value'): Fault {
  return wrongMember('tool_choice', demand, { code })
}
