/**
 * Tools of other frameworks: how each is known and read. They are known by their shape: nothing of theirs is
 * imported, and no member is called. How they are called is in `tool-calls.ts`.
 */
import {
  areFunctions, findShape, genkitKeyOf, isLike, lacksRun, memberAt, readMember, wordIn,
} from './shape.ts'
import { isAnySchema, schemaFrom, unchanged } from './tool-schemas.ts'
import { isShape, isStandard } from '../../kernel/schema/standard.ts'
import type { Has, MemberPlace, Shape } from './shape.ts'

/** What `defineTool` makes a tool of. */
export interface AdaptedTool {
  /** What it is, as in `a tool of Mastra`. */
  readonly what: string
  /** Undefined where it has none. */
  readonly name: string | undefined
  readonly title: string | undefined
  readonly description: string | undefined
  /** Undefined: no arguments. */
  readonly inputSchema: object | undefined
  readonly outputSchema: object | undefined
  readonly annotations: object | undefined
  readonly framework: ToolFramework
}

/** Whose tool it is. `any`: of none that is known; an object with a name, a schema and a function. */
export type ToolFramework =
  | 'adk' | 'aiSdk' | 'anthropic' | 'any' | 'claude' | 'genkit' | 'langchain' | 'llamaIndex' | 'mastra'
  | 'openai' | 'strands' | 'voltAgent'

/** How a tool of one framework is read. */
interface Taken {
  readonly of: ToolFramework
  readonly input: MemberPlace<unknown>
  /** It checks its arguments itself, and gets them as they came. */
  readonly checks?: boolean
  /** Left out: `name`. */
  readonly name?: MemberPlace<unknown>
  /** Left out: `description`. */
  readonly description?: MemberPlace<unknown>
  readonly output?: MemberPlace<unknown>
  readonly annotations?: MemberPlace<unknown>
}

const PROXY = 'tools: (await client.listTools()).tools.map(({ execution, ...tool }) => defineTool({ ...tool, '
  + 'run: (args) => client.callTool({ name: tool.name, arguments: args }) }))'

const hostedTypes: ReadonlySet<unknown> = new Set(['hosted_tool', 'computer', 'shell', 'apply_patch'])

const known: readonly Shape<Taken>[] = [
  ['a tool of the Agent Development Kit', (has) => has(Symbol.for('google.adk.functionTool')) !== undefined, {
    of: 'adk', input: 'parameters', checks: true,
  }],
  ['a tool of the Agent Development Kit that runs within its Runner only',
    (has) => has(Symbol.for('google.adk.baseTool')) !== undefined,
    'a FunctionTool runs without one; serve the agent that has this tool by agents: [new InMemoryRunner({ '
      + `agent, appName: 'app' })]`],
  ['a tool of Genkit', (has) => /^\/tool(?:\.v\d+)?\//.test(genkitKeyOf(has)), {
    of: 'genkit', name: '__action.name', description: '__action.description', checks: true,
    input: '__action.inputJsonSchema __action.inputSchema',
    output: '__action.outputJsonSchema __action.outputSchema',
  }],
  ['a tool of LangChain',
    (has) => lacksRun(has) && has('lc_runnable') === true && has('schema') !== undefined, {
      of: 'langchain', input: 'schema', checks: true,
    }],
  ['a tool of the OpenAI Agents SDK',
    (has) => lacksRun(has) && has('type') === 'function' && areFunctions(has, 'invoke')
      && has('parameters') !== undefined, {
      of: 'openai', input: 'parameters', output: 'outputSchema', checks: true,
    }],
  ['a tool that OpenAI runs',
    (has) => lacksRun(has) && hostedTypes.has(has('type')) && has('name') !== undefined
      && has('inputSchema') === undefined && has('parameters') === undefined,
    'leave it out: only an agent of theirs can use it'],
  [`a tool as OpenAI's API describes it`,
    (has) => lacksRun(has) && has('type') === 'function' && has('name') === undefined
      && readMember(has('function'), 'name') !== undefined,
    'write what is in its function, with one that can be called: '
      + '{ name, description, inputSchema: parameters, run: (args) => … }'],
  ['a tool of Mastra',
    (has) => lacksRun(has) && areFunctions(has, 'execute') && typeof has('id') === 'string'
      && has('name') === undefined, {
      of: 'mastra', name: 'id', input: 'inputSchema', output: 'outputSchema',
      annotations: 'mcp.annotations', checks: true,
    }],
  ['a tool that the provider of a model runs',
    (has) => lacksRun(has) && isLike(has('type'), /^provider(?:-|$)/) && has('args') !== undefined,
    'leave it out: only the model can use it'],
  ['a tool of the AI SDK',
    (has) => lacksRun(has) && areFunctions(has, 'execute') && isAnySchema(has('inputSchema'))
      && has('id') === undefined && has('name') === undefined, {
      of: 'aiSdk', input: 'inputSchema', output: 'outputSchema',
    }],
  ['a tool of the AI SDK without execute, which a client runs',
    (has) => lacksRun(has) && has('execute') === undefined && has('name') === undefined
      && (has('type') === undefined || has('type') === 'function' || has('type') === 'dynamic')
      && isAnySchema(has('inputSchema')) && has('id') === undefined && has('handler') === undefined,
    'give it an execute, or leave it out'],
  ['a tool of Strands',
    (has) => lacksRun(has) && areFunctions(has, 'invoke', 'stream') && has('toolSpec') !== undefined, {
      of: 'strands', input: 'toolSpec.inputSchema', checks: true,
    }],
  ['a tool of VoltAgent that a client runs',
    (has) => lacksRun(has) && areFunctions(has, 'isClientSide') && !areFunctions(has, 'execute'),
    'give it an execute, or leave it out'],
  ['a tool of VoltAgent',
    (has) => lacksRun(has) && areFunctions(has, 'execute', 'isClientSide') && isStandard(has('parameters')), {
      of: 'voltAgent', input: 'parameters', output: 'outputSchema', annotations: 'mcp.annotations',
    }],
  ['a tool of LlamaIndex',
    (has) => lacksRun(has) && areFunctions(has, 'call')
      && readMember(has('metadata'), 'parameters') !== undefined, {
      of: 'llamaIndex', name: 'metadata.name', description: 'metadata.description',
      input: 'metadata.parameters',
    }],
  ['a tool of the Anthropic SDK',
    (has) => areFunctions(has, 'run', 'parse') && has('input_schema') !== undefined, {
      of: 'anthropic', input: 'input_schema', checks: true,
    }],
  ['a tool of the Claude Agent SDK',
    (has) => lacksRun(has) && areFunctions(has, 'handler') && isShape(has('inputSchema'))
      && typeof has('name') === 'string', {
      of: 'claude', input: 'inputSchema', annotations: 'annotations',
    }],
  ['a client of MCP, which has many tools',
    (has) => lacksRun(has) && areFunctions(has, 'listTools', 'callTool'),
    `write ${PROXY}`],
  ['a server of MCP, whose tools a client has to ask for',
    (has) => lacksRun(has) && areFunctions(has, 'registerTool', 'connect'),
    `connect a client of MCP to it, and write ${PROXY}`],
]

/** Where a tool that is written as it comes may have its schema, and its function. */
const schemaNames = ['inputSchema', 'parameters', 'schema', 'input_schema', 'args', 'argsSchema'] as const
const functionNames = ['execute', 'handler', 'func', 'fn', 'invoke', 'call', 'callback'] as const

export const approvalNames: readonly string[] = ['needsApproval', 'requireApproval', 'requireConfirmation']

/** What has a name, a schema and one function to call. */
const anyTool: Shape<Taken> = ['a tool',
  (has) => lacksRun(has) && typeof has('name') === 'string' && schemaIn(has) !== undefined
    && functionIn(has) !== undefined, {
    of: 'any', input: schemaIn, output: 'outputSchema', annotations: 'annotations',
  }]

/** What such an object may have besides, where it is written as `{ … }`. */
export const looseMembers: readonly string[] = [
  ...schemaNames, ...functionNames, ...approvalNames, 'type', 'id', 'strict', 'metadata', 'tags',
  'toModelOutput', 'providerOptions', 'inputExamples', 'onInputStart', 'onInputDelta', 'onInputAvailable',
]

function schemaIn(has: Has): unknown {
  return schemaNames.map((name) => has(name)).find((value) => isAnySchema(value) || isShape(value))
}

export function functionIn(has: Has): string | undefined {
  const found = functionNames.filter((name) => typeof has(name) === 'function')
  return found.length === 1 ? found[0] : undefined
}

const tools = [...known, anyTool]

/** What a tool of another framework is; undefined for anything else. */
export function foreignToolKind(thing: unknown): string | undefined {
  return findShape(tools, thing)?.what
}

/**
 * A tool of another framework, ready to be defined; undefined for anything else. Throws `TypeError` for what
 * cannot be taken, with what to write instead.
 */
export function adaptTool(thing: unknown): AdaptedTool | undefined {
  const found = findShape(tools, thing)
  if (found === undefined) return undefined
  const { what, how, has } = found
  if (typeof how === 'string') throw new TypeError(`This is ${what}; ${how}`)
  const read = (place: MemberPlace<unknown> = ''): unknown => (
    typeof place === 'string' ? memberAt(has, place) : place(has, thing)
  )
  const schema = schemaFrom(read(how.input))
  return {
    what,
    name: wordIn(read(how.name ?? 'name')),
    title: wordIn(has('title')),
    description: wordIn(read(how.description ?? 'description')),
    inputSchema: how.checks === true ? unchanged(schema) : schema,
    outputSchema: schemaFrom(read(how.output)),
    annotations: objectIn(read(how.annotations)),
    framework: how.of,
  }
}

function objectIn(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null ? value : undefined
}
