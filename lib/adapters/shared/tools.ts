/**
 * Tools of other frameworks: how each is known, and how it is called. They are known by their shape: nothing
 * of theirs is imported, and no member is called before the tool is.
 */
import {
  areFunctions, genkitKeyOf, isLike, isOwnDefinition, lacksRun, readMember, membersOf, wordIn,
} from './shape.ts'
import { isAnySchema, schemaFrom, unchanged } from './tool-schemas.ts'
import { isShape, isStandard } from '../../kernel/schema/standard.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { Has } from './shape.ts'

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
  /** Of no framework that is known: an object with a name, a schema and a function. */
  readonly isLoose: boolean
  /** Whether its user has to approve a call; it may be a promise. */
  asks(args: unknown, call: Call): unknown
  /** Its result, now or later, in a form that a `run` returns. */
  call(args: unknown, call: Call): unknown
}

/** How a tool of one framework is read and called. */
interface Taken {
  readonly input: (has: Has) => unknown
  /** `theirs` is the tool: its members are called as its own. */
  readonly call: (theirs: Theirs, args: unknown, call: Call, has: Has) => unknown
  /** It checks its arguments itself, and gets them as they came. */
  readonly checks?: boolean
  readonly name?: (has: Has) => unknown
  readonly description?: (has: Has) => unknown
  readonly output?: (has: Has) => unknown
  readonly annotations?: (has: Has) => unknown
  /** Whether a call needs an approval; it may be a promise. */
  readonly approval?: (theirs: Theirs, args: unknown, call: Call, has: Has) => unknown
}

type Theirs = Readonly<Record<string, (...args: unknown[]) => unknown>>

/** What it is, whether an object is one, and how it is taken, or what to write instead. */
type ToolShape = readonly [what: string, is: (has: Has) => boolean, how: Taken | string]

const optionsOf = (call: Call): object => ({
  toolCallId: call.requestId, messages: [], abortSignal: call.signal, signal: call.signal,
})

/** A flag, or a function that is called. */
function flagOf(theirs: Theirs, member: string, ...args: unknown[]): unknown {
  const flag: unknown = theirs[member]
  return typeof flag === 'function' ? theirs[member]!(...args) : flag
}

const PROXY = 'tools: (await client.listTools()).tools.map(({ execution, ...tool }) => defineTool({ ...tool, '
  + 'run: (args) => client.callTool({ name: tool.name, arguments: args }) }))'

const parametersOf = (has: Has): unknown => has('parameters')
const mcpAnnotations = (has: Has): unknown => readMember(has('mcp'), 'annotations')
const actionOf = (has: Has, ...names: readonly string[]): unknown => (
  names.map((name) => readMember(has('__action'), name)).find((value) => value !== undefined)
)

const hostedTypes: ReadonlySet<unknown> = new Set(['hosted_tool', 'computer', 'shell', 'apply_patch'])

const tools: readonly ToolShape[] = [
  ['a tool of the Agent Development Kit', (has) => has(Symbol.for('google.adk.functionTool')) !== undefined, {
    input: parametersOf, checks: true,
    approval: (theirs, args) => flagOf(theirs, 'requireConfirmation', args, {}),
    call: (theirs, args, call) => theirs['runAsync']!({
      args,
      toolContext: {
        actions: {}, state: new Map(), abortSignal: call.signal, toolConfirmation: { confirmed: true },
      },
    }),
  }],
  ['a tool of the Agent Development Kit that runs within its Runner only',
    (has) => has(Symbol.for('google.adk.baseTool')) !== undefined,
    'a FunctionTool runs without one; serve the agent that has this tool by agents: [new InMemoryRunner({ '
      + `agent, appName: 'app' })]`],
  ['a tool of Genkit', (has) => /^\/tool(?:\.v\d+)?\//.test(genkitKeyOf(has)), {
    name: (has) => actionOf(has, 'name'), description: (has) => actionOf(has, 'description'), checks: true,
    input: (has) => actionOf(has, 'inputJsonSchema', 'inputSchema'),
    output: (has) => actionOf(has, 'outputJsonSchema', 'outputSchema'),
    call: (theirs, args, call) => (theirs as unknown as (...given: unknown[]) => unknown)(
      args, { abortSignal: call.signal },
    ),
  }],
  ['a tool of LangChain',
    (has) => lacksRun(has) && has('lc_runnable') === true && has('schema') !== undefined, {
      input: (has) => has('schema'), checks: true,
      call: (theirs, args, call) => theirs['invoke']!(args, { signal: call.signal }),
    }],
  ['a tool of the OpenAI Agents SDK',
    (has) => lacksRun(has) && has('type') === 'function' && areFunctions(has, 'invoke')
      && has('parameters') !== undefined, {
      input: parametersOf, output: (has) => has('outputSchema'), checks: true,
      approval: (theirs, args, call) => (
        flagOf(theirs, 'needsApproval', { context: {} }, args, call.requestId)
      ),
      call: async (theirs, args, call) => {
        const details = { signal: call.signal }
        const result = await theirs['invoke']!({ context: {} }, formatJson(args), details)
        const isFailure = typeof result === 'string' && openaiFailure.test(result)
        return isFailure ? { isError: true, content: [result] } : result
      },
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
      name: (has) => has('id'), input: (has) => has('inputSchema'), output: (has) => has('outputSchema'),
      annotations: mcpAnnotations, checks: true,
      approval: (theirs, args) => flagOf(
        theirs, theirs['needsApprovalFn'] === undefined ? 'requireApproval' : 'needsApprovalFn', args, {},
      ),
      call: async (theirs, args, call) => {
        const writer = writerOf(call)
        // Version 1 gets the arguments by themselves.
        const result = await (isOne(theirs)
          ? theirs['execute']!(args, { abortSignal: call.signal, writer })
          : theirs['execute']!({ context: args, writer }, { abortSignal: call.signal }))
        const isFailure = readMember(result, 'error') === true
          && readMember(result, 'validationErrors') !== undefined
        return isFailure ? { isError: true, content: [String(readMember(result, 'message'))] } : result
      },
    }],
  ['a tool that the provider of a model runs',
    (has) => lacksRun(has) && isLike(has('type'), /^provider(?:-|$)/) && has('args') !== undefined,
    'leave it out: only the model can use it'],
  ['a tool of the AI SDK',
    (has) => lacksRun(has) && areFunctions(has, 'execute') && isAnySchema(has('inputSchema'))
      && has('id') === undefined && has('name') === undefined, {
      input: (has) => has('inputSchema'), output: (has) => has('outputSchema'),
      approval: (theirs, args, call) => flagOf(theirs, 'needsApproval', args, optionsOf(call)),
      call: (theirs, args, call) => lastOf(theirs['execute']!(args, optionsOf(call)), call),
    }],
  ['a tool of the AI SDK without execute, which a client runs',
    (has) => lacksRun(has) && has('execute') === undefined && has('name') === undefined
      && (has('type') === undefined || has('type') === 'function' || has('type') === 'dynamic')
      && isAnySchema(has('inputSchema')) && has('id') === undefined && has('handler') === undefined,
    'give it an execute, or leave it out'],
  ['a tool of Strands',
    (has) => lacksRun(has) && areFunctions(has, 'invoke', 'stream') && has('toolSpec') !== undefined, {
      input: (has) => readMember(has('toolSpec'), 'inputSchema'), checks: true,
      call: (theirs, args, call) => theirs['invoke']!(args, {
        toolUse: { name: String(theirs['name']), toolUseId: call.requestId, input: args },
        invocationState: {}, cancelSignal: call.signal,
      }),
    }],
  ['a tool of VoltAgent that a client runs',
    (has) => lacksRun(has) && areFunctions(has, 'isClientSide') && !areFunctions(has, 'execute'),
    'give it an execute, or leave it out'],
  ['a tool of VoltAgent',
    (has) => lacksRun(has) && areFunctions(has, 'execute', 'isClientSide') && isStandard(has('parameters')), {
      input: parametersOf, output: (has) => has('outputSchema'), annotations: mcpAnnotations,
      approval: (theirs, args, call) => flagOf(theirs, 'needsApproval', args, optionsOf(call)),
      call: (theirs, args, call) => lastOf(theirs['execute']!(args, {
        abortController: { signal: call.signal, abort() {} },
        toolContext: {
          name: String(theirs['name']), callId: call.requestId, messages: [], abortSignal: call.signal,
        },
      }), call),
    }],
  ['a tool of LlamaIndex',
    (has) => lacksRun(has) && areFunctions(has, 'call')
      && readMember(has('metadata'), 'parameters') !== undefined, {
      name: (has) => readMember(has('metadata'), 'name'),
      description: (has) => readMember(has('metadata'), 'description'),
      input: (has) => readMember(has('metadata'), 'parameters'),
      call: (theirs, args) => theirs['call']!(args),
    }],
  ['a tool of the Anthropic SDK',
    (has) => areFunctions(has, 'run', 'parse') && has('input_schema') !== undefined, {
      input: (has) => has('input_schema'), checks: true,
      call: async (theirs, args, call) => anthropicResult(
        await theirs['run']!(theirs['parse']!(args), { signal: call.signal }),
      ),
    }],
  ['a tool of the Claude Agent SDK',
    (has) => lacksRun(has) && areFunctions(has, 'handler') && isShape(has('inputSchema'))
      && typeof has('name') === 'string', {
      input: (has) => has('inputSchema'), annotations: (has) => has('annotations'),
      call: (theirs, args, call) => theirs['handler']!(args, { signal: call.signal }),
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

const approvalNames = ['needsApproval', 'requireApproval', 'requireConfirmation'] as const

/** What has a name, a schema and one function to call. */
const anyTool: ToolShape = ['a tool',
  (has) => lacksRun(has) && typeof has('name') === 'string' && schemaIn(has) !== undefined
    && functionIn(has) !== undefined, {
    input: schemaIn, output: (has) => has('outputSchema'), annotations: (has) => has('annotations'),
    approval: async (theirs, args, call) => {
      for (const member of approvalNames) {
        if (await flagOf(theirs, member, args, optionsOf(call))) return true
      }
      return false
    },
    call: (theirs, args, call, has) => lastOf(theirs[functionIn(has)!]!(args, optionsOf(call)), call),
  }]

/** What such an object may have besides, where it is written as `{ … }`. */
export const looseMembers: readonly string[] = [
  ...schemaNames, ...functionNames, ...approvalNames, 'type', 'id', 'strict', 'metadata', 'tags',
  'toModelOutput', 'providerOptions', 'inputExamples', 'onInputStart', 'onInputDelta', 'onInputAvailable',
]

function schemaIn(has: Has): unknown {
  return schemaNames.map((name) => has(name)).find((value) => isAnySchema(value) || isShape(value))
}

function functionIn(has: Has): string | undefined {
  const found = functionNames.filter((name) => typeof has(name) === 'function')
  return found.length === 1 ? found[0] : undefined
}

/** A failure that looks like a result. */
const openaiFailure = /^An error occurred while running the tool\.|^Tool '.{1,200}' timed out after \d+ms\.$/

/** Version 1 of Mastra marks its tools, or has a member that version 0 has not. */
function isOne(theirs: object): boolean {
  return 'requestContextSchema' in theirs || Symbol.for('mastra.core.tool.Tool') in theirs
}

/** What tools of Mastra write to while they run. */
function writerOf(call: Call): object {
  let count = 0
  const write = (chunk: unknown): void => call.progress(++count, undefined, textOfPiece(chunk))
  return { write: async (chunk: unknown) => write(chunk), custom: async (chunk: unknown) => write(chunk) }
}

function textOfPiece(piece: unknown): string {
  return typeof piece === 'string' ? piece : formatJson(piece) ?? ''
}

/** Of a generator the last piece is the result, those before it are progress. */
async function lastOf(result: unknown, call: Call): Promise<unknown> {
  const whole = await result
  if (typeof whole !== 'object' || whole === null || !(Symbol.asyncIterator in whole)) return whole
  let count = 0
  let last: unknown
  for await (const piece of whole as AsyncIterable<unknown>) {
    call.signal.throwIfAborted()
    if (count > 0) call.progress(count, undefined, textOfPiece(last))
    count++
    last = piece
  }
  return last
}

/** Its pictures are blocks of another form. */
function anthropicResult(result: unknown): unknown {
  if (!Array.isArray(result)) return result
  return result.map((block: unknown) => {
    const source = readMember(block, 'source')
    const data = readMember(source, 'data')
    return readMember(block, 'type') === 'image' && data !== undefined
      ? { type: 'image', data, mimeType: readMember(source, 'media_type') } : block
  })
}

/** What a tool of another framework is; undefined for anything else. */
export function foreignToolKind(thing: unknown): string | undefined {
  return findTool(thing)?.what
}

function findTool(thing: unknown): { readonly what: string; readonly how: Taken | string } | undefined {
  if ((typeof thing !== 'object' && typeof thing !== 'function') || thing === null) return undefined
  if (isOwnDefinition(thing)) return undefined
  const has = membersOf(thing)
  const shape = [...tools, anyTool].find(([, is]) => is(has))
  return shape && { what: shape[0], how: shape[2] }
}

/**
 * A tool of another framework, ready to be defined; undefined for anything else. Throws `TypeError` for what
 * cannot be taken, with what to write instead.
 */
export function adaptTool(thing: unknown): AdaptedTool | undefined {
  const found = findTool(thing)
  if (found === undefined) return undefined
  const { what, how } = found
  if (typeof how === 'string') throw new TypeError(`This is ${what}; ${how}`)
  const has = membersOf(thing as object)
  const theirs = thing as Theirs
  const schema = schemaFrom(how.input(has))
  return {
    what,
    name: wordIn((how.name ?? ((all) => all('name')))(has)),
    title: wordIn(has('title')),
    description: wordIn((how.description ?? ((all) => all('description')))(has)),
    inputSchema: how.checks === true ? unchanged(schema) : schema,
    outputSchema: schemaFrom(how.output?.(has)),
    annotations: objectIn(how.annotations?.(has)),
    isLoose: found.how === anyTool[2],
    asks: (args, call) => how.approval?.(theirs, args, call, has),
    call: (args, call) => how.call(theirs, args, call, has),
  }
}

function objectIn(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null ? value : undefined
}
