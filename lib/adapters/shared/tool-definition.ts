/** The definition of a tool of another framework, in the words of ours. */
import { annotationChecks, toolChecks } from '../../kernel/define/tool.ts'
import { isPlain, rejectUnknown } from '../../kernel/define/validate.ts'
import { contract } from '../../kernel/schema/standard.ts'
import { Later } from '../../kernel/util/later.ts'
import { schemaForm } from '../schemas/schema-form.ts'
import { adaptTool, looseMembers } from './tools.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { ToolAnnotations, ToolDefinition } from '../../kernel/define/tool.ts'
import type { Schema } from '../../kernel/schema/standard.ts'
import type { AdaptedTool } from './tools.ts'

const calls = new Later(() => import('./tool-calls.ts'))

/** What an object may have of ours besides what its framework knows. */
const ownMembers = ['icons', 'timeoutMs', 'scopes', 'task', 'recover', '_meta', 'ui'] as const

/**
 * The definition of a tool of another framework, by the name `as` where one is given; undefined for anything
 * else. Throws `TypeError` for what cannot be taken, with what to write instead.
 */
export function toolDefinition(given: unknown, as?: string): ToolDefinition | undefined {
  const theirs = adaptTool(given)
  return theirs && definitionOf(theirs, given as object, as ?? theirs.name)
}

function definitionOf(theirs: AdaptedTool, given: object, name: string | undefined): ToolDefinition {
  const { what, title, description, inputSchema, outputSchema, annotations } = theirs
  if (name === undefined) {
    throw new TypeError(`This is ${what}, which has no name; write tools: { add: theirs }`)
  }
  const owner = `The tool '${name}'`
  if (theirs.framework === 'any' && isPlain(given)) {
    rejectUnknown(owner, given, [...Object.keys(toolChecks), ...looseMembers])
  }
  const own = isPlain(given) ? ownMembers.flatMap((member) => {
    const value: unknown = Reflect.get(given, member)
    return value === undefined ? [] : [[member, value] as const]
  }) : []
  return {
    name, title, description,
    ...inputSchema !== undefined && { inputSchema },
    ...outputSchema !== undefined && isPublishable(outputSchema) && { outputSchema },
    ...annotations !== undefined && { annotations: hintsIn(annotations) },
    ...Object.fromEntries(own),
    run: (args: unknown, call: Call) => calls.use(({ callForeign }) => (
      callForeign(theirs.framework, name, given, args, call)
    )),
  }
}

/** What a library cannot write as JSON Schema is not published: its framework checks the results. */
function isPublishable(schema: object): boolean {
  try {
    contract(schema as Schema, { side: 'output', schemaForm })
    return true
  } catch {
    return false
  }
}

function hintsIn(annotations: object): ToolAnnotations {
  const known = Object.entries(annotations).filter(([name]) => Object.hasOwn(annotationChecks, name))
  return Object.fromEntries(known)
}
