/**
 * What a compiler says of a program that uses the declarations: handlers get their types without being told,
 * and a mistake does not compile. Strict, in two dialects of strictness.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import test from 'node:test'
import { blocks } from './fixtures/documents.ts'

const FOLDER = '.test/types'
const HEAD = `import { createServer, defineAgent, defineGroup, defineTool, launch, serveStdio } from 'triport'
import { openaiAgent, testClient } from 'triport'
import type { Agent, AgentDefinition, Call, Catalog, Group, Offer, ServerOptions, Subject } from 'triport'
import type { Around, FormQuestion, StandardSchema, Tool, UrlQuestion } from 'triport'
/** Compiles only where both are the same, and neither is any. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
function is<_T extends true>(): void {}
declare const agent: Agent, definition: AgentDefinition, group: Group, tool: Tool, offer: Offer
declare const subject: Subject, options: ServerOptions, catalog: Catalog, call: Call
declare const agents: Agent[], tools: Tool[], mixed: (Agent | Tool)[]
declare const likes: NonNullable<Offer['tools']>
declare const when: StandardSchema<{ at: string }, { at: Date }>
/** As the objects of some libraries, zod 3 among them: what its methods return depends on \`this\`. */
declare class Strict<Value> {
  readonly '~standard': StandardSchema<Value>['~standard']
  readonly value: Value
  loosened(): Loosened<this>
}
type Loosened<T> = T extends Strict<infer Value> ? Strict<Partial<Value>> : T
declare const strict: Strict<{ at: Date }>
const form = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const
export const use = [is, createServer, defineAgent, defineGroup, defineTool, launch, serveStdio, form]
export { openaiAgent, testClient }
export const given = [agent, definition, group, tool, offer, subject, options, catalog, call]
declare const question: FormQuestion | UrlQuestion
export const lists = [agents, tools, mixed, likes, when, strict, question]
`

const schema = `inputSchema: {
  type: 'object', properties: { a: { type: 'number' }, b: { type: 'string' } }, required: ['a'],
}`
const prompted = `(prompt, call) => { is<Same<typeof prompt, string>>(); is<Same<typeof call, Call>>()
  return prompt }`
const added = `({ a, b }, call) => { is<Same<typeof a, number>>(); is<Same<typeof b, string | undefined>>();
  is<Same<typeof call, Call>>(); return a }`
const loose = `(args, call) => { is<Same<typeof args, Record<string, unknown>>>()
  is<Same<typeof call, Call>>() }`

/** A tool whose arguments a Standard Schema checks and types, and whose result has a schema. */
const dated = `{ name: 'a', inputSchema: { type: 'object' }, validate: when,
  run: ({ at }) => is<Same<typeof at, Date>>() }`
/** The same of a class that is no part of an intersection. */
const strictly = `{ name: 'a', inputSchema: { type: 'object' }, validate: strict,
  run: ({ at }) => is<Same<typeof at, Date>>() }`
const strictlyIn = `{ name: 'a', inputSchema: strict, run: ({ at }) => is<Same<typeof at, Date>>() }`
const strictlyOut = `{ name: 'a', ${schema}, outputSchema: strict, run: () => ({ at: new Date() }) }`
const filled = `{ name: 'a', inputSchema: {
  type: 'object', properties: { n: { type: 'integer', default: 1 } },
}, run: ({ n }) => is<Same<typeof n, number>>() }`
const output = `outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }`
const kept = `{ name: 'a', ${schema}, ${output}, run: ({ a }) => ({ sum: a }) }`
const keptLater = `{ name: 'a', ${schema}, ${output}, async run({ a }) { return { sum: a } } }`
const keptWhole = `{ name: 'a', ${schema}, ${output}, run: ({ a }, call) => call.requestId === ''
  ? { structuredContent: { sum: a } } : 'text' }`
const keptBySteps = `{ name: 'a', ${schema}, ${output}, async *run({ a }, call) {
  is<Same<typeof call, Call>>(); yield 'half'; return { sum: a } } }`
const keptByPieces = `{ name: 'a', ${schema}, ${output}, *run({ a }) { yield 'half'; yield { sum: a } } }`
const brokenBySteps = `{ name: 'a', ${schema}, ${output}, async *run({ a }) {
  yield a; return { sum: 'a' } } }`
const broken = `{ name: 'a', ${schema}, ${output}, run: ({ a }) => ({ sum: String(a) }) }`
const brokenLater = `{ name: 'a', ${schema}, ${output}, async run({ a }) { return { summ: a } } }`

/** Everywhere that a tool may be written in place. */
const places: readonly ((tool: string) => string)[] = [
  (tool) => `defineTool(${tool})`,
  (tool) => `launch(${tool})`,
  (tool) => `launch([${tool}, agent])`,
  (tool) => `launch({ tools: [tool, ${tool}] })`,
  (tool) => `serveStdio(${tool})`,
  (tool) => `createServer({ name: 'a', tools: [${tool}] })`,
  (tool) => `catalog.add(${tool})`,
]

const good: readonly string[] = [
  ...[dated, strictly, strictlyIn, strictlyOut, filled, kept, keptLater, keptWhole,
    keptBySteps, keptByPieces]
    .flatMap((tool) => places.map((place) => place(tool))),
  `launch(${prompted})`,
  `launch({ name: 'a', run: ${prompted} })`,
  `launch({ name: 'a', run(prompt, call) { is<Same<typeof prompt, string>>(); return call.requestId } })`,
  `launch({ name: 'a', async *run(prompt, call) { is<Same<typeof call, Call>>(); yield prompt } })`,
  `launch({ name: 'a', ${schema}, run: ${added} })`,
  `launch([{ name: 'a', run: ${prompted} }, ${prompted}, agent])`,
  `launch([{ name: 'a', ${schema}, run: ${added} }, { name: 'b', run: ${prompted} }, tool])`,
  `launch({ agents: [{ name: 'a', run: ${prompted} }, ${prompted}] }, { port: 0 })`,
  `launch({ tools: [{ name: 'a', ${schema}, run: ${added} }, { name: 'b', run: ${loose} }, tool] })`,
  `launch({ tools: [...tools, { name: 'b', run: ${loose} }] })`,
  `launch({ name: 'a', agents: [{ name: 'b', run: ${prompted} }, { name: 'c', agents: [${prompted}] }],
    mode: (query, call) => { is<Same<typeof query, string>>(); return call.requestId } })`,
  `launch({ uri: 'x:1', name: 'a', read: (call) => { is<Same<typeof call, Call>>(); return '' } })`,
  `launch({ uriTemplate: 'x:{a}', name: 'a', read: ({ a }, call) => call.requestId + [a].join() })`,
  `launch({ name: 'a', arguments: [{ name: 'b' }], get: ({ b }, call) => call.requestId + b })`,
  `launch({ prompts: [{ name: 'a', arguments: [{ name: 'b' }], get: ({ b }, call) => call.protocol + b }] })`,
  `serveStdio({ name: 'a', run: ${prompted} })`,
  `serveStdio({ name: 'a', ${schema}, run: ${added} })`,
  `serveStdio([{ name: 'a', ${schema}, run: ${added} }])`,
  `serveStdio({ tools: [{ name: 'a', ${schema}, run: ${added} }] })`,
  `createServer({ agents: [{ name: 'a', run: ${prompted} }], maxCalls: 1, protocol: ['mcp'], log: console })`,
  `createServer({ tools: [{ name: 'a', ${schema}, run: ${added} }, { name: 'b', run: ${loose} }] })`,
  `catalog.add({ name: 'a', run: ${prompted} })`,
  `catalog.add({ name: 'a', ${schema}, run: ${added} })`,
  `defineTool({ name: 'a', ${schema}, run: ${added} })`,
  `defineTool({ name: 'a', inputSchema: form, run: ({ a }) => { is<Same<typeof a, number>>() } })`,
  `defineTool({ name: 'a', async *run(_args, call) { is<Same<typeof call, Call>>(); yield 'b' } })`,
  `launch({ tools: [{ name: 'a', inputSchema: when, run: ({ at }) => is<Same<typeof at, Date>>() }] })`,
  `launch({ name: 'a', inputSchema: when, run: ({ at }) => is<Same<typeof at, Date>>() })`,
  `for (const one of [agent, definition, group, tool, offer, subject]) void launch(one)`,
  `for (const one of [agents, tools, mixed]) void launch(one)`,
  `launch([agent, definition, tool, group]); launch([...agents, ...tools]); launch({ agents, tools: likes })`,
  `launch({ ...agent, name: 'b' }); defineTool({ ...tool, name: 'b' })`,
  `launch(agents.length > 0 ? agent : group)`,
  `launch({ name: 'a', run(prompt, { event }) {
    event({ type: 'tool-call', id: '1', name: 'b', args: { prompt } })
    event({ type: 'tool-result', id: '1', result: undefined, isError: undefined })
    event({ type: 'reasoning', text: prompt }); event({ type: 'usage', inputTokens: 1, outputTokens: 1 })
    return prompt
  } })`,
  `const around: Around = async ({ kind, name, input, call }, next) => {
    is<Same<typeof name, string>>(); is<Same<typeof input, unknown>>(); is<Same<typeof call, Call>>()
    return kind === 'tool' ? await next() : next()
  }
  launch(agent, { around }); createServer({ agents, around: (called, next) => next() })
  serveStdio(agent, { protocol: 'acp' })
  serveStdio(agent, { around: ({ call: { signal } }, next) => signal.aborted ? '' : next() })`,
  `createServer(options); createServer({ ...options, name: 'b' }); createServer({ tools: likes, agents })`,
  `class Robot { readonly name = 'Robot'; count = 0; run(prompt: string): string { return prompt } }
   launch(new Robot()); launch([new Robot(), agent]); defineAgent(new Robot())`,
  `interface Score { readonly of: string; readonly points?: number; readonly parts: readonly Score[] }
   declare const score: Score, may: boolean
   launch(() => score); launch(async () => score); defineAgent({ name: 'a', run: () => may ? score : 'b' })
   launch(async () => ['a', { text: 'b' }]); launch(async () => new Set(['a']))
   launch(async () => new Date())
   launch(() => ({ a: 1 })); launch(async () => ({ text: 'a', data: score }))
   launch(() => may ? undefined : score); launch(() => may ? Promise.resolve('a') : score)`,
  `call.elicit({ message: '', schema: form }).then((answer) => {
    if (answer.action === 'accept') is<Same<typeof answer.content, Readonly<{ a: number }>>>()
    else is<Same<typeof answer.content, undefined>>()
  })`,
  `async function ask({ elicit }: Call, form: { [keyword: string]: unknown }): Promise<void> {
    const sizes = await elicit({ message: '', schema: {
      type: 'object', properties: { size: { enum: ['small', 'large'] }, n: { type: 'integer', default: 1 } },
      required: ['size'],
    } })
    if (sizes.action === 'accept') {
      is<Same<typeof sizes.content, Readonly<{ size: 'small' | 'large', n?: number }>>>()
    }
    const { content } = await elicit({ message: '', schema: when })
    is<Same<typeof content, Readonly<{ at: Date }> | undefined>>()
    const strictly = await call.elicit({ message: '', schema: strict })
    if (strictly.action === 'accept') is<Same<typeof strictly.content, Readonly<{ at: Date }>>>()
    const any = await elicit({ message: '', schema: form })
    is<Same<typeof any.content, Readonly<Record<string, unknown>> | undefined>>()
    const either: FormQuestion | UrlQuestion = { message: '', url: '' }
    const { action } = await call.elicit(either)
    is<Same<typeof action, 'accept' | 'decline' | 'cancel'>>()
  }
  export { ask }`,
  `call.elicit({ message: '', url: 'x:1' }).then(({ elicitationId = '' }) => elicitationId.length)`,
  `declare const may: string | undefined, some: string[] | undefined
   defineTool({ name: 'a', title: may, description: may, scopes: some, timeoutMs: undefined, task: undefined,
     icons: [{ src: 'x', sizes: some, theme: undefined }],
     annotations: { title: may, readOnlyHint: undefined },
     run: () => ({ content: [may ?? ''], isError: may === undefined ? true : undefined, _meta: undefined }) })
   defineAgent({ name: 'a', id: may, description: may, inputModes: some, replies: undefined,
     run: () => ({ text: may, state: undefined }) })
   createServer({
     groups: [{ name: 'b', description: may, mode: undefined, agents: [agent] }],
     resources: [
       { uri: 'x:1', name: 'a', title: may, mimeType: may, read: () => ({ text: 'b', mimeType: may }) },
     ],
     prompts: [{ name: 'a', description: may, arguments: [{ name: 'b', description: may }], get: () => '' }],
     tools: [{ name: 'c', title: may, run: () => undefined }],
   })`,
  `declare const mayBe: { type: 'object' } | undefined, maybeWhen: typeof when | undefined
   defineTool({ name: 'a', inputSchema: mayBe, outputSchema: mayBe, validate: maybeWhen, run: () => '' })
   createServer({ tools: [{ name: 'a', inputSchema: mayBe, validate: maybeWhen, run: () => '' }] })`,
  `interface Spelled { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
   interface Anything { type?: string | string[], properties?: Record<string, Anything>, title?: string }
   declare const spelled: Spelled, anything: Anything
   defineTool({ name: 'a', inputSchema: spelled, run: ({ a }) => { is<Same<typeof a, number>>(); return a } })
   launch({ name: 'a', inputSchema: spelled, run: ({ a }) => is<Same<typeof a, number>>() })
   createServer({
     tools: [{ name: 'a', inputSchema: spelled, run: ({ a }) => is<Same<typeof a, number>>() }],
   })
   defineTool({ name: 'a', inputSchema: anything, outputSchema: anything, run: (args) => args })
   createServer({ tools: [{ name: 'a', inputSchema: anything, run: (args) => args }] })
   defineTool({ name: 'a', outputSchema: spelled, run: () => ({ a: 1 }) })`,
  `declare const later: PromiseLike<string>
   launch({ name: 'a', run: () => later })`,
  `declare const may: string | undefined
   const client = testClient(createServer(options), {
     headers: { a: 'b' }, url: may, onSample: undefined,
     onElicit: ({ message, schema }) => (
       schema === undefined ? { action: 'decline' } : { action: 'accept', content: { message } }
     ),
   })
   client.query('a', { sessionId: may }).then(({ response }) => is<Same<typeof response, string>>())
   client.mcp.callTool<{ sum: number }>('a', { a: 1 }).then(({ structuredContent: { sum }, isError }) => {
     is<Same<typeof sum, number>>(); is<Same<typeof isError, boolean>>()
   })
   client.mcp.callTool('a').then(({ structuredContent }) => is<Same<typeof structuredContent, unknown>>())
   client.a2a.send([{ text: 'a' }], { taskId: may }).then(({ state }) => state?.length)`,
  `declare const sdk: { description?: string, inputSchema: unknown, type?: undefined | 'function',
     execute?: (args: { a: number }, options: { abortSignal?: AbortSignal }) => AsyncIterable<string> }
   declare const chain: { name: string, schema: object, invoke(args: never): unknown }
   declare class Volt { readonly name: string; readonly parameters: object
     execute?(args: { a: number }): Promise<unknown> }
   declare const volt: Volt
   createServer({ tools: { add: sdk, chain, tool } })
   createServer({ tools: [chain, tool, volt], name: 'b' })
   launch({ tools: { add: sdk } }, { port: 0 }); launch({ tools: [volt, chain] })
   serveStdio({ tools: { add: sdk }, agents: [agent] })
   openaiAgent({ tools: { add: sdk, chain, tool } }); openaiAgent({ tools: [chain, tool, volt] })
   openaiAgent({ tools: [tool, { name: 'a', run: () => '' }] })
   createServer({ tools: [{ ...defineTool(chain), name: 'c', scopes: ['d'] }, defineTool(volt)] })`,
  `createServer({ tools: { add: { description: 'Adds.', run: () => 'a' }, tool }, name: 'b' })
   launch({ tools: { add: { ${schema}, run: ({ a }: { a: number }) => a } } })
   launch({ tools: { add: { run: ${loose} } } })
   openaiAgent({ tools: { add: { run: (_args, call) => is<Same<typeof call, Call>>() } } })`,
  `interface Chunk { readonly id: string; readonly delta?: { readonly content: string } }
   declare class Graph { readonly name?: string
     invoke(state: { messages: string[] }): Promise<{ messages: Chunk[] }>
     stream(state: { messages: string[] }): Promise<AsyncGenerator<[Chunk, { node: string }]>> }
   declare const graph: Graph, chunks: AsyncIterable<Chunk>
   launch(graph); launch([graph, agent], { port: 0 }); serveStdio(graph); serveStdio([graph])
   createServer({ agents: [graph, { name: 'a', run: (prompt) => graph.stream({ messages: [prompt] }) }] })
   launch({ name: 'a', run: (prompt) => graph.invoke({ messages: [prompt] }) })
   launch({ name: 'a', run: async () => chunks }); launch({ name: 'a', async *run() { yield* chunks } })`,
]

const bad: readonly (readonly [program: string, error: RegExp])[] = [
  [`testClient(createServer(options)).query('a', { session: 'b' })`, /'session' does not exist/],
  [`defineTool(${broken})`, /Type 'string' is not assignable to type 'number'/],
  [`defineTool(${brokenBySteps})`, /Types of property 'sum' are incompatible/],
  [`defineTool(${brokenLater})`, /'\{ readonly summ: number; \}' is not assignable/],
  [`call.event({ type: 'tool-call', id: '1' })`, /'name' is missing/],
  [`call.event({ type: 'usage', inputTokens: 1, outputTokens: '1' })`, /'string' is not assignable/],
  [`call.event({ type: 'thought', text: '' })`, /'"thought"' is not assignable/],
  [`launch(agent, { around: (_called, next) => { next(1) } })`, /Expected 0 arguments/],
  [`launch(agent, { apikey: 'k' })`, /'apikey' does not exist/],
  [`launch(agent, 9250)`, /No overload matches this call/],
  [`launch({ name: 'a', handler: (prompt: string) => prompt })`, /No overload matches this call/],
  [`launch({ name: 'a', run: (prompt: number) => String(prompt) })`, /No overload matches this call/],
  [`launch({ tools: [tool], port: 8000 })`, /No overload matches this call/],
  [`launch([7])`, /No overload matches this call/],
  [`launch({ name: 'a', async *run() { yield 7 } })`, /No overload matches this call/],
  [`launch({ name: 'a', async *run() { yield new Map() } })`, /No overload matches this call/],
  [`launch({ name: 'a', ${schema}, run: ({ c }) => c })`, /'c' does not exist/],
  [`launch([{ name: 'a', ${schema}, run: ({ c }) => c }])`, /'c' does not exist/],
  [`launch({ tools: [{ name: 'a', ${schema}, run: ({ c }) => c }] })`, /'c' does not exist/],
  [`createServer({ tools: [{ name: 'a', ${schema}, run: ({ c }) => c }] })`, /'c' does not exist/],
  [`createServer({ tools: [{ name: 'a', inputSchema: 7, run: () => 1 }] })`, /Type '7' is not assignable/],
  [`createServer({ agents: [agent], port: 8000 })`, /'port' does not exist/],
  [`createServer({ agents: [agent], maxCalls: '64' })`, /'string' is not assignable to type 'number/],
  [`createServer({ agents: [agent], protocol: 'HTTP' })`, /'"HTTP"' is not assignable/],
  [`createServer({ agents: [agent], log: { warn() {} } })`, /'\{ warn\(\): void; \}' is not assignable/],
  [`createServer({ tools: [{ name: 'a', validate: 7, run: () => 1 }] })`, /Type '7' is not assignable/],
  [`defineTool({ name: 'a', validate: form, run: () => 1 })`, /Type .* is not assignable/],
  [`createServer({ tools: [{ name: 'a', handler: () => 1 }] })`, /'handler' does not exist/],
  [`createServer()`, /Expected 1 arguments/],
  ...[
    '7', 'new Map()', 'new Error()', '() => 1', 'new Response()', '[7]', 'new Uint8Array()',
  ].flatMap((output) => [`() => ${output}`, `async () => ${output}`])
    .map((run) => [`defineAgent({ name: 'a', run: ${run} })`, /is not assignable/] as const),
  [`defineAgent({ name: 'a', run: () => '', descripton: 'b' })`, /'descripton' does not exist/],
  [`defineTool({ name: 'a', ${schema}, run: ({ c }) => c })`, /'c' does not exist/],
  [`catalog.add({})`, /No overload matches this call/],
  [`catalog.remove('tools', 'a')`, /'"tools"' is not assignable/],
  [`export type { LoneTool } from 'triport'`, /has no exported member 'LoneTool'/],
  [`call.elicit({ message: '', schema: form }).then((answer) => answer.content.a)`, /possibly 'undefined'/],
  [`call.elicit({ message: '', url: 'x:1' }).then((answer) => answer.content.a)`, /possibly 'undefined'/],
]

const dialects: readonly (readonly string[])[] = [
  ['--module', 'nodenext', '--skipDefaultLibCheck'],
  ['--module', 'esnext', '--moduleResolution', 'bundler', '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess', '--skipLibCheck'],
]

/** What the compiler says. Several threads of it would each check the types of Node. */
function compile(...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync('node_modules/.bin/tsc', [
    '--ignoreConfig', '--singleThreaded', '--strict', '--target', 'es2023', '--types', 'node',
    '--pretty', 'false', ...args,
  ], { encoding: 'utf8' })
  return stdout + stderr
}

/** The same by file. */
function complaints(flags: readonly string[]): ReadonlyMap<string, string> {
  const files = readdirSync(FOLDER).map((name) => `${FOLDER}/${name}`)
  const said = new Map<string, string>()
  let file = ''
  for (const line of compile('--noEmit', ...flags, ...files).split('\n')) {
    if (!line.startsWith(' ') && line !== '') file = line.replace(/\(.*$/, '').split('/').at(-1)!
    if (line !== '') said.set(file, `${said.get(file) ?? ''}${line}\n`)
  }
  return said
}

test('handlers get their types without being told, and mistakes do not compile', () => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  for (const [at, program] of good.entries()) writeFileSync(`${FOLDER}/good-${at}.ts`, HEAD + program)
  for (const [at, [program]] of bad.entries()) writeFileSync(`${FOLDER}/bad-${at}.ts`, HEAD + program)
  for (const flags of dialects) {
    const said = complaints(flags)
    for (const [at, program] of good.entries()) assert.equal(said.get(`good-${at}.ts`), undefined, program)
    for (const [at, [program, error]] of bad.entries()) {
      assert.match(said.get(`bad-${at}.ts`) ?? 'It compiles', error, program)
    }
    const others = [...said.keys()].filter((file) => !/^(?:good|bad)-\d+\.ts$/.test(file))
    assert.deepEqual(others.map((file) => said.get(file)), [])
  }
})

/** A result that is wrong, and where in it a compiler says so; the member `at` of its type is a date. */
const told: readonly (readonly [result: string, place: string])[] = [
  ['() => ({ at: 7 })', 'at: 7'], ['({ a }) => ({ at: a })', 'at: a'], ['() => { return { at: 7 } }', 'run'],
  ['async () => ({ at: 7 })', '({ at: 7 })'], ['async () => { return { at: 7 } }', 'run'],
]

test('a wrong result is told where it is, by its member', () => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const programs = told.map(([result]) => (
    `${HEAD}defineTool({ name: 'a', ${schema},\n  outputSchema: strict,\n  run: ${result},\n})`
  ))
  for (const [at, program] of programs.entries()) writeFileSync(`${FOLDER}/told-${at}.ts`, program)
  for (const flags of dialects) {
    const said = complaints(flags)
    for (const [at, [, place]] of told.entries()) {
      const text = said.get(`told-${at}.ts`) ?? 'It compiles'
      const [, line, column] = /\((\d+),(\d+)\)/.exec(text)!
      const rest = programs[at]!.split('\n')[Number(line) - 1]!.slice(Number(column) - 1)
      assert.ok(rest.startsWith(place), `${text} at ${rest}`)
      assert.match(text, /'number' is not assignable to type '[^']*Date/)
      if (!place.startsWith('at')) assert.match(text, /property 'at' are incompatible|: number; \}' is not/)
    }
  }
})

/** What a program of two files may export for the other: all that it makes, and all that it gets. */
const consumer = `import * as triport from 'triport'
import type { Call, Store } from 'triport'
export const tool = triport.defineTool({ name: 'a', run: (_args, call) => call.requestId })
export const agent = triport.defineAgent({ name: 'a', async *run(prompt) { yield prompt } })
export const group = triport.defineGroup({ name: 'a', agents: [agent], mode: (query) => query })
export const resource = triport.defineResource({ uri: 'a:b', name: 'a', read: () => '' })
export const template = triport.defineResourceTemplate({ uriTemplate: 'a:{b}', name: 'a', read: () => '' })
export const prompt = triport.definePrompt({ name: 'a', get: () => '' })
export const model = triport.openaiAgent({ model: 'a' })
export const server = triport.createServer({ tools: [{ name: 'b', run: (args) => args }] })
export const { catalog, handler } = server
export const { agents, groups, tools, resources, templates, prompts, root } = catalog
export const status = server.status()
export const address = await server.listen()
export const launched = await triport.launch({ tools: [tool] })
export const store = triport.memoryStore()
export const report = await triport.checkStore(() => store)
export const validate = triport.compile({ type: 'object' })
export const validation = validate(1)
export const { errors } = validation
export const limits = triport.defaults
export const fault = new triport.Fault('invalid', '')
export const { kind } = fault
export const asked = {
  form: (call: Call) => call.elicit({ message: '', schema: { type: 'object' } }),
  address: (call: Call) => call.elicit({ message: '', url: '' }),
  sample: (call: Call) => call.sample({ messages: [], maxTokens: 1 }),
  roots: (call: Call) => call.roots(),
}
export const about = ({ client, trace, principal, history, message, protocol }: Call) => {
  return { client, trace, principal, history, message, protocol }
}
export class Copy {
  read(from: Store) { return from.read({ collection: '', owner: '', key: '' }) }
  list(from: Store) { return from.list('', '', 1) }
}
`

test('what a program makes and gets can be named in its own declarations', () => {
  const folder = '.test/consumer'
  rmSync(folder, { recursive: true, force: true })
  // In a package of its own, which sees nothing but what is public.
  mkdirSync(`${folder}/node_modules/triport`, { recursive: true })
  writeFileSync(`${folder}/package.json`, '{ "name": "consumer", "type": "module" }')
  writeFileSync(`${folder}/index.ts`, consumer)
  cpSync('package.json', `${folder}/node_modules/triport/package.json`)
  cpSync('dist', `${folder}/node_modules/triport/dist`, { recursive: true })
  assert.equal(compile(
    '--declaration', '--emitDeclarationOnly', '--module', 'nodenext', '--skipLibCheck',
    '--outDir', `${folder}/out`, `${folder}/index.ts`,
  ), '')
})

test('a program types the claims of its callers once', () => {
  const folder = '.test/claims'
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const declared = blocks.find(({ language, text }) => language === 'ts' && text.includes('Claims'))?.text
  writeFileSync(`${folder}/claims.ts`, `${declared}
import { createServer, defineAgent, defineTool } from 'triport'
export const tool = defineTool({
  name: 'a',
  run: (_args, { principal }) => principal.claims?.email.toUpperCase() ?? String(principal.claims?.['other']),
})
export const agent = defineAgent({ name: 'a', run: (_prompt, call) => call.principal.claims?.email ?? '' })
createServer({ agents: [agent], apiKey: () => ({ id: 'a', scopes: [], claims: { email: 'a@b', more: 1 } }) })
// @ts-expect-error an e-mail is a text
createServer({ agents: [agent], apiKey: () => ({ id: 'a', scopes: [], claims: { email: 7 } }) })
createServer({ agents: [agent], auth: {
  resource: 'https://a.example/mcp', authorizationServers: ['https://b.example'],
  // @ts-expect-error there is no e-mail
  verify: () => ({ subject: 'a', claims: {} }),
} })
`)
  for (const flags of dialects) {
    assert.equal(compile('--noEmit', ...flags, '--skipLibCheck', `${folder}/claims.ts`), '')
  }
})
