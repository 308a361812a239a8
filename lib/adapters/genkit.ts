/** Runs flows of Genkit, and reads what flows and `generate` give. */
import { presentMessage } from './shared/message.ts'
import { itemsIn, readJson, readMember } from './shared/shape.ts'
import { Paragraphs, sayThought, sayToolResult, sayUsageOf } from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { CallEvent } from '../kernel/define/event.ts'
import type { Adapter, ReadResult, Reader, Shown } from '../kernel/define/adapters.ts'

interface Flow {
  readonly __action: { readonly name: string; readonly inputSchema?: unknown }
  stream(input: unknown, options: object): {
    readonly stream: AsyncIterable<unknown>
    readonly output: Promise<unknown>
  }
}

export const genkit: Adapter & Reader = {
  async* run(agent, prompt, call) {
    const flow = agent as Flow
    const { stream, output } = flow.stream(inputOf(flow, prompt, call), {
      abortSignal: call.signal, context: { history: call.history },
    })
    // It is awaited behind the stream, which may throw before.
    output.catch(() => {})
    const read = makeReader()
    let text = ''
    for await (const piece of stream) {
      const shown = typeof piece === 'object' && piece !== null ? read(piece, call) : piece
      if (typeof shown !== 'string') continue
      text += shown
      yield shown
    }
    yield* restOf(await output, text, read, call)
  },
  makeReader,
}

/** What a flow returned, without the text that has come in pieces. */
function* restOf(output: unknown, shown: string, read: ReadResult, call: Call): Generator<Shown> {
  if (typeof output === 'string') {
    if (output.startsWith(shown)) yield output.slice(shown.length)
    return
  }
  if (typeof output !== 'object' || output === null) return yield String(output ?? '')
  yield isResponse(output) ? read(output, call) ?? '' : { data: output }
}

/**
 * What a flow takes: the message itself; its data where it has some; or it as the one text of an object.
 */
function inputOf({ __action: { name, inputSchema } }: Flow, prompt: string, call: Call): unknown {
  const shape = shapeOf(inputSchema)
  if (shape === undefined) return presentMessage(prompt, call).text
  const data = call.message.find((block) => block.type === 'data')
  if (data !== undefined) return data.data
  const given = readJson(prompt)
  if (typeof given === 'object' && given !== null) return given
  const texts = Object.keys(shape).filter((member) => typeOf(shape[member]) === 'ZodString')
  const [only] = texts
  if (only !== undefined && texts.length === 1) return { [only]: prompt }
  throw new TypeError(`The flow '${name}' takes an object; send it as data, or as JSON`)
}

/** The members of a schema of Zod 3 for an object; undefined for any other. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  const shape = typeOf(schema) === 'ZodObject' ? readMember(schema, 'shape') : undefined
  return typeof shape === 'object' && shape !== null ? { ...shape } : undefined
}

function typeOf(schema: unknown): unknown {
  return readMember(readMember(schema, '_def'), 'typeName')
}

function isResponse(value: object): boolean {
  return readMember(value, 'finishReason') !== undefined && readMember(value, 'message') !== undefined
}

function makeReader(): ReadResult {
  /** Whether the text has come in pieces. */
  let isShown = false
  const paragraphs = new Paragraphs()
  /** The calls of tools in chunks: each comes several times, with more and more of its arguments. */
  const growing = new Map<string, CallEvent>()
  return (value, call) => {
    const isWhole = isResponse(value)
    const content = readMember(isWhole ? readMember(value, 'message') : value, 'content')
    readTools(itemsIn(content), growing, call)
    const text = readMember(value, 'text')
    if (!isWhole) {
      if (typeof text !== 'string' || text === '') return undefined
      isShown = true
      return paragraphs.next(readMember(value, 'index'), text)
    }
    sayUsageOf(call, readMember(value, 'usage'), 'inputTokens', 'outputTokens')
    if (readMember(value, 'finishReason') === 'interrupted') {
      throw new Error('The model was interrupted by a tool; ask by call.elicit, and resume')
    }
    const output = readMember(value, 'output')
    const shown = isShown || typeof text !== 'string' ? '' : text
    return typeof output === 'object' && output !== null ? { text: shown, data: output } : shown
  }
}

function readTools(parts: readonly unknown[], growing: Map<string, CallEvent>, call: Call): void {
  const requests = parts.flatMap((part) => readMember(part, 'toolRequest') ?? [])
  for (const one of requests) {
    const { id, name } = idOf(one)
    growing.set(id, { type: 'tool-call', id, name, args: readMember(one, 'input') })
  }
  if (requests.every((one) => readMember(one, 'partial') !== true)) {
    for (const event of growing.values()) call.event(event)
    growing.clear()
  }
  for (const part of parts) {
    sayThought(call, readMember(part, 'reasoning'))
    const response = readMember(part, 'toolResponse')
    if (response === undefined) continue
    const { id, name } = idOf(response)
    sayToolResult(call, id, name, readMember(response, 'output'))
  }
}

function idOf(toolPart: unknown): { readonly id: string; readonly name: string } {
  const name = String(readMember(toolPart, 'name'))
  return { id: String(readMember(toolPart, 'ref') ?? name), name }
}
