/**
 * Runs agents of Mastra, versions 0.24 and 1, and reads what they return. What they stream is that of the AI
 * SDK in another form.
 */
import { partReader } from './ai-parts.ts'
import { askApprovals, askFreely } from './shared/approval.ts'
import { earlierMessages, withPresent } from './shared/message.ts'
import { itemsIn, membersIn, readJson, readMember } from './shared/shape.ts'
import { runSteps } from './shared/steps.ts'
import { formatJson } from '../kernel/wire/json.ts'
import { mainTypeOf } from '../kernel/wire/media.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Adapter, ReadResult, Reader, Shown } from '../kernel/define/adapters.ts'
import type { AttachedFile } from './shared/message.ts'
import type { PlainMembers } from './shared/shape.ts'

interface Theirs {
  stream(messages: readonly object[], options: object): Promise<Streamed>
  approveToolCall(options: object): Promise<Streamed>
  declineToolCall(options: object): Promise<Streamed>
  resumeStream(data: unknown, options: object): Promise<Streamed>
}

interface Streamed { readonly runId: string; readonly fullStream: AsyncIterable<object> }

/** A run that waits in Mastra's storage, and for what. */
interface State { readonly runId: string; readonly waiting: readonly PlainMembers[] }

/** How a tool that waits goes on. */
interface Answer { readonly asked: PlainMembers; readonly approved?: boolean; readonly data?: unknown }

export const mastra: Adapter & Reader = {
  run(agent, prompt, call) {
    const theirs = agent as Theirs
    const options = { abortSignal: call.signal }
    const owner = `mastra ${String(readMember(agent, 'id') ?? readMember(agent, 'name'))}`
    return runSteps<State, readonly Answer[]>(call, owner, async function* (state, answers = []) {
      const run = new Run(call, state)
      if (state === undefined) yield* run.read(await theirs.stream(messagesOf(prompt, call), options))
      for (const answer of answers) {
        if (!run.take(answer.asked)) continue
        yield* run.read(await resume(theirs, { ...options, runId: run.id }, answer))
      }
      return run.waiting.length > 0 ? { runId: run.id, waiting: run.waiting } : undefined
    }, ({ waiting }) => askFor(waiting, call))
  },
  makeReader: () => reader(partReader()),
}

/** A run, which goes on after each answer as one more stream. */
class Run {
  readonly #call: Call
  readonly #read = reader(partReader())
  id: string
  waiting: readonly PlainMembers[]

  constructor(call: Call, state: State | undefined) {
    this.#call = call
    this.id = state?.runId ?? ''
    this.waiting = state?.waiting ?? []
  }

  async* read({ runId, fullStream }: Streamed): AsyncGenerator<Shown, void> {
    this.id = runId
    const fresh: PlainMembers[] = []
    for await (const chunk of fullStream) {
      const shown = isWaiting(chunk) ? undefined : this.#read(chunk, this.#call)
      if (isWaiting(chunk)) fresh.push(membersIn(chunk))
      if (shown !== undefined) yield shown
    }
    const ids = new Set(fresh.map(idOf))
    // A tool that says again what it waits for may wait for something else by now.
    this.waiting = [...this.waiting.filter((one) => !ids.has(idOf(one))), ...fresh]
  }

  /** Whether it still waits for what was asked, and then for it no more. */
  take(asked: PlainMembers): boolean {
    const text = textOf(asked)
    const found = this.waiting.find((one) => textOf(one) === text)
    this.waiting = this.waiting.filter((one) => one !== found)
    return found !== undefined
  }
}

function idOf({ payload }: PlainMembers): unknown {
  return readMember(payload, 'toolCallId')
}

/** What is shown of it, to tell it from others. */
function textOf({ type, payload }: PlainMembers): string {
  const { toolCallId, toolName, args, suspendPayload, resumeSchema } = membersIn(payload)
  return formatJson([type, toolCallId, toolName, args, suspendPayload, resumeSchema])
}

async function resume(theirs: Theirs, options: object, { asked, approved, data }: Answer): Promise<Streamed> {
  const more = { ...options, toolCallId: idOf(asked) }
  if (approved === undefined) return theirs.resumeStream(data, more)
  return approved ? theirs.approveToolCall(more) : theirs.declineToolCall(more)
}

/** Asks whether tools may run, and what tools themselves ask. Who gives no answer has declined. */
async function askFor(waiting: readonly PlainMembers[], call: Call): Promise<readonly Answer[]> {
  const calls = waiting.filter(({ type }) => type === 'tool-call-approval').map((asked) => {
    const { toolCallId, toolName, args } = membersIn(asked['payload'])
    return { asked, id: String(toolCallId), tool: String(toolName), args }
  })
  const suspended = waiting.filter(({ type }) => type !== 'tool-call-approval')
  const [approvals, ...others] = await Promise.all([
    askApprovals(call, calls, ({ id }) => `mastra-${id}`), ...suspended.map((asked) => askOne(asked, call)),
  ])
  const approved = approvals.take(calls)
  return [...calls.map(({ asked }, at) => ({ asked, approved: approved[at] === true })), ...others]
}

/** Asks what a tool itself asks. */
async function askOne(asked: PlainMembers, call: Call): Promise<Answer> {
  const { toolCallId, suspendPayload, resumeSchema } = membersIn(asked['payload'])
  const schema = typeof resumeSchema === 'string' ? readJson(resumeSchema) : undefined
  const question = typeof suspendPayload === 'object' ? { ...suspendPayload, schema } : suspendPayload
  const data = await askFreely(call, `mastra-${String(toolCallId)}`, question)
  return data === null ? { asked, approved: false } : { asked, data }
}

function isWaiting(chunk: object): boolean {
  const type = readMember(chunk, 'type')
  return type === 'tool-call-approval' || type === 'tool-call-suspended'
}

const WAITS = 'A tool waits for an answer, which only an agent that is served as it is can ask for; '
  + 'write agents: [agent]'

function reader(read: ReadResult): ReadResult {
  return (value, call) => {
    if ('steps' in value) return readResult(value, read, call)
    if (isWaiting(value)) throw new TypeError(WAITS)
    const { type, payload, object } = membersIn(value)
    if (type === 'object-result') return { data: object }
    if (type === 'tripwire') return refused(readMember(payload, 'reason'))
    return read(partOf(value), call)
  }
}

/** A chunk in the form of the AI SDK. */
function partOf(chunk: object): object {
  const { type, payload } = membersIn(chunk)
  const { args, result, output, isError, base64, data, mimeType, ...more } = membersIn(payload)
  switch (type) {
    case 'step-start': return { type: 'start-step' }
    case 'finish': return { type, usage: readMember(output, 'usage') }
    case 'file': return { type, file: { base64: base64 ?? data, mediaType: mimeType } }
    case 'tool-result': {
      // In version 0.24 it is an error as it was thrown.
      const hasFailed = isError === true || Object.prototype.toString.call(result) === '[object Error]'
      return { ...more, type: hasFailed ? 'tool-error' : type, output: result }
    }
  }
  return { ...more, type, input: args }
}

/** What `generate` resolves to. */
function readResult(result: object, read: ReadResult, call: Call): Shown {
  const { steps, error, finishReason, tripwire, tripwireReason, reasoningText, ...whole } = membersIn(result)
  if (error !== undefined && error !== null) throw error
  if (finishReason === 'aborted') throw new Error('The model was aborted')
  if (finishReason === 'suspended') throw new TypeError(WAITS)
  if (tripwire) return refused(tripwireReason ?? readMember(tripwire, 'reason'))
  for (const step of itemsIn(steps)) {
    for (const name of ['toolCalls', 'toolResults']) {
      for (const chunk of itemsIn(readMember(step, name))) read(partOf(membersIn(chunk)), call)
    }
  }
  if (typeof reasoningText === 'string') read({ type: 'reasoning', text: reasoningText }, call)
  const files = itemsIn(whole['files']).map((file) => partOf(membersIn(file)))
  return read({ ...whole, files: files.map((part) => readMember(part, 'file')) }, call) ?? ''
}

/** A guard of the author's has stopped the run. */
function refused(reason: unknown): Shown {
  return { text: typeof reason === 'string' ? reason : 'The request was refused', state: 'rejected' }
}

function messagesOf(prompt: string, call: Call): readonly object[] {
  // Its agents always have instructions.
  return withPresent(earlierMessages(call, true), prompt, call, partOfFile)
}

function partOfFile({ data, mediaType, name }: AttachedFile): object {
  if (mainTypeOf(mediaType) === 'image') {
    return { type: 'image', image: `data:${mediaType};base64,${data}`, mimeType: mediaType }
  }
  return { type: 'file', data, mediaType, mimeType: mediaType, ...name !== undefined && { filename: name } }
}
