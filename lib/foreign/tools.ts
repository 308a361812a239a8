/**
 * Tools of other frameworks: how each is known, and what to write for it. They are known by their shape:
 * nothing of theirs is imported, and no member is called.
 */
import { areFunctions, genkitKeyOf, isOwnDefinition, lacksRun, readMember, membersOf } from './shape.ts'
import type { Has } from './shape.ts'

/** What it is, whether an object is one, and what to write instead. */
type ToolShape = readonly [what: string, is: (has: Has) => boolean, write: string]

const tools: readonly ToolShape[] = [
  ['a tool of the Agent Development Kit', (has) => has(Symbol.for('google.adk.baseTool')) !== undefined,
    'inputSchema: theirs.parameters, run: (args) => theirs.runAsync({ args, toolContext: {} })'],
  ['a tool of Genkit', (has) => genkitKeyOf(has).startsWith('/tool/'),
    `inputSchema: { type: 'object', properties: { … } }, run: (args) => theirs(args)`],
  ['a tool of LangChain',
    (has) => lacksRun(has) && has('lc_runnable') === true && has('schema') !== undefined,
    'inputSchema: theirs.schema, run: (args, call) => theirs.invoke(args, { signal: call.signal })'],
  ['a tool of the OpenAI Agents SDK',
    (has) => lacksRun(has) && has('type') === 'function' && areFunctions(has, 'invoke')
      && has('parameters') !== undefined,
    'inputSchema: theirs.parameters, run: (args, call) => theirs.invoke(undefined, '
      + 'JSON.stringify(args), { signal: call.signal })'],
  ['a tool of Mastra',
    (has) => lacksRun(has) && areFunctions(has, 'execute') && typeof has('id') === 'string'
      && has('inputSchema') !== undefined,
    'inputSchema: theirs.inputSchema, run: (args, call) => theirs.execute(args, '
      + '{ abortSignal: call.signal })'],
  ['a tool of the AI SDK',
    (has) => lacksRun(has) && areFunctions(has, 'execute') && has('inputSchema') !== undefined
      && has('id') === undefined && has('name') === undefined,
    'inputSchema: theirs.inputSchema, run: (args, call) => theirs.execute(args, '
      + `{ toolCallId: call.requestId, messages: [], abortSignal: call.signal })`],
  ['a tool of Strands',
    (has) => lacksRun(has) && areFunctions(has, 'invoke', 'stream') && has('toolSpec') !== undefined,
    'inputSchema: theirs.toolSpec.inputSchema, run: (args) => theirs.invoke(args)'],
  ['a tool of VoltAgent',
    (has) => lacksRun(has) && areFunctions(has, 'execute') && isStandard(has('parameters')),
    'inputSchema: theirs.parameters, run: (args) => theirs.execute(args, {})'],
  ['a tool of LlamaIndex',
    (has) => lacksRun(has) && areFunctions(has, 'call')
      && readMember(has('metadata'), 'parameters') !== undefined,
    'inputSchema: theirs.metadata.parameters, run: (args) => theirs.call(args)'],
  ['a tool of Inngest\'s AgentKit',
    (has) => lacksRun(has) && areFunctions(has, 'handler') && isStandard(has('parameters')),
    'inputSchema: theirs.parameters, run: (args) => theirs.handler(args, {})'],
  ['a tool of the Anthropic SDK',
    (has) => areFunctions(has, 'run', 'parse') && has('input_schema') !== undefined,
    'inputSchema: theirs.input_schema, run: (args) => theirs.run(theirs.parse(args))'],
  ['a tool of the Claude Agent SDK',
    (has) => lacksRun(has) && areFunctions(has, 'handler') && isShape(has('inputSchema')),
    'inputSchema: z.object(theirs.inputSchema), run: (args) => theirs.handler(args, {})'],
  ['a client of MCP, which has many tools',
    (has) => lacksRun(has) && areFunctions(has, 'listTools', 'callTool'),
    `inputSchema: { … }, run: (args) => client.callTool({ name: 'theirs', arguments: args })`],
  ['a server of MCP, whose tools a client has to ask for',
    (has) => lacksRun(has) && areFunctions(has, 'registerTool', 'connect'),
    `inputSchema: { … }, run: (args) => client.callTool({ name: 'theirs', arguments: args })`],
]

/** Throws `TypeError` for a tool of another framework: what it is, and what to write instead. */
export function refuseTool(thing: unknown): void {
  if ((typeof thing !== 'object' && typeof thing !== 'function') || thing === null) return
  if (isOwnDefinition(thing)) return
  const has = membersOf(thing)
  const tool = tools.find(([, is]) => is(has))
  if (tool === undefined) return
  const asks = ['needsApproval', 'requireApproval'].map(has)
  const isAsking = asks.some((asked) => asked !== undefined && asked !== false)
  const consent = isAsking ? '. It waits for a person\'s approval: ask in run, by call.elicit, before' : ''
  throw new TypeError(`This is ${tool[0]}. Write tools: [defineTool({ name: 'theirs', `
    + `description: '…', ${tool[2]} })]${consent}`)
}

/** Whether a value is a schema of a library. */
function isStandard(value: unknown): boolean {
  return readMember(value, '~standard') !== undefined
}

/** Whether a value is properties alone, each of them a schema of a library. */
function isShape(value: unknown): boolean {
  const properties = typeof value === 'object' && value !== null ? Object.values(value) : []
  return properties.length > 0 && properties.every(isStandard)
}
