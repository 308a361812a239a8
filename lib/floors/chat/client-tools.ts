/** The tools that a client offers with its request, and runs itself. */
import { isGiven, isRecord } from '../../kernel/define/content.ts'
import { listIn, nameIn, wrongMember } from './members.ts'
import type { ClientTool } from '../../kernel/define/client-tool.ts'

/** A list of tools, each with its name, description and parameters. Throws `Fault('invalid')`. */
export function clientToolsIn(tools: unknown): readonly ClientTool[] {
  return lastOfEach(listIn(tools, 'tools').map((tool, index) => clientToolOf(tool, `tools[${index}]`)))
}

/** Of two with one name the last counts: models refuse both. */
export function lastOfEach(tools: readonly ClientTool[]): readonly ClientTool[] {
  return tools.length < 2 ? tools : [...new Map(tools.map((tool) => [tool.name, tool])).values()]
}

/** One of them. Throws `Fault('invalid')`. */
export function clientToolOf(given: unknown, at: string): ClientTool {
  const { name, description, parameters } = isRecord(given) ? given : {}
  return {
    name: nameIn(name, `${at}.name`),
    ...typeof description === 'string' && { description },
    inputSchema: argumentsSchema(parameters, `${at}.parameters`),
  }
}

/** A schema of arguments; what allows any is one of an object, which is all that models know. */
function argumentsSchema(given: unknown, at: string): ClientTool['inputSchema'] {
  if (given === false) return { type: 'object', properties: {}, additionalProperties: false }
  if (!isGiven(given) || given === true) return { type: 'object', properties: {} }
  if (!isRecord(given)) throw wrongMember(at, 'must be a JSON Schema: an object, true or false')
  return Object.keys(given).length === 0 ? { type: 'object', properties: {} } : given
}
