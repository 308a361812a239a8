/**
 * The functions that a client of OpenAI offers among its tools, and runs itself.
 * Spec: https://platform.openai.com/docs/guides/function-calling
 */
import { isGiven, isRecord } from '../../kernel/define/content.ts'
import { clientToolOf, lastOfEach } from '../../floors/chat/client-tools.ts'
import { listIn, wrongMember } from '../../floors/chat/members.ts'
import type { ClientTool } from '../../kernel/define/client-tool.ts'

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
