/** Runs agents and networks of Inngest's AgentKit, and reads their results. */
import { asOneText } from './shared/message.ts'
import { readJson, readMember, textOfParts } from './shared/shape.ts'
import { sayToolCall, sayToolResult, sayUsageOf } from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Adapter, Reader, Shown } from '../kernel/define/adapters.ts'

/** What one answer of a model, and the tools after it, gave. */
interface Result {
  readonly output: readonly { readonly type: string; readonly content?: unknown }[]
  readonly toolCalls: readonly { readonly content: unknown }[]
  /** The answer as the model's API gave it, as JSON. */
  readonly raw?: unknown
}

interface NetworkRun { readonly state: { readonly results: readonly Result[] } }

/** An event of a run. */
interface Chunk { readonly event: string; readonly data: Readonly<Record<string, unknown>> }

interface Theirs {
  run(prompt: string, options: object): Promise<Result | NetworkRun>
}

export const inngest: Adapter & Reader = {
  async* run(agent, prompt, call) {
    const publish = toolEvents(call)
    const result = await (agent as Theirs).run(asOneText(prompt, call), { streaming: { publish } })
    yield* read(result, call)
  },
  makeReader: () => (result, call) => [...read(result as Result | NetworkRun, call)][0],
}

/** The last text; where a model called tools and no model spoke after these, what the tools returned. */
function* read(result: Result | NetworkRun, call: Call): Generator<Shown> {
  const results = 'state' in result ? result.state.results : [result]
  for (const { raw } of results) readUsage(raw, call)
  const text = results.flatMap(({ output }) => output).findLast(({ type }) => type === 'text')?.content
  if (text !== undefined) return yield textOfParts(text)
  const last = results.at(-1)?.toolCalls ?? []
  const returned = last.map(({ content }) => readMember(content, 'data') ?? content)
  if (returned.length > 0) yield { data: returned.length === 1 ? returned[0] : returned }
}

/** Sends the calls of tools, which run one after the other. */
function toolEvents(call: Call): (chunk: Chunk) => Promise<void> {
  const open = new Map<unknown, string>()
  return async ({ event, data: { type, partId, finalContent, metadata } }) => {
    if (event !== 'part.completed') return
    const name = readMember(metadata, 'toolName')
    if (type === 'tool-call') {
      open.set(name, String(partId))
      sayToolCall(call, partId, name, finalContent)
    }
    const id = open.get(name)
    if (type !== 'tool-output' || id === undefined) return
    const isError = readMember(finalContent, 'error') !== undefined
    const result = isError ? undefined : readMember(finalContent, 'data')
    sayToolResult(call, id, name, result, isError)
  }
}

function readUsage(raw: unknown, call: Call): void {
  const usage = readMember(typeof raw === 'string' ? readJson(raw) : raw, 'usage')
  sayUsageOf(call, usage, 'prompt_tokens input_tokens', 'completion_tokens output_tokens')
}
