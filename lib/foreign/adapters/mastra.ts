/**
 * Runs agents of Mastra, versions 0.24 and 1, and reads what they return. What they stream is that of the AI
 * SDK in another form.
 */
import { partReader } from './ai-parts.ts'
import { askApproval, askFreely } from '../approval.ts'
import { earlierMessages, presentMessage } from '../message.ts'
import { itemsIn, membersIn, readMember } from '../shape.ts'
import { runSteps } from '../steps.ts'
import type { Call } from '../../define/call.ts'
import type { Adapter, Read, Reader, Shown } from '../adapter.ts'
import type { PlainMembers } from '../shape.ts'
import type { AgentStep } from '../steps.ts'

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
interface Answer { readonly toolCallId: unknown; readonly approved?: boolean; readonly data?: unknown }

export const mastra: Adapter & Reader = {
  run(agent, prompt, call) {
    const theirs = agent as Theirs
    const options = { abortSignal: call.signal }
    return runSteps<State, readonly Answer[]>(call, 'mastra', (state, answers = []) => (
      step(call, state === undefined
        ? [() => theirs.stream(messagesOf(prompt, call), options)]
        : answers.map((answer) => () => resume(theirs, { ...options, runId: state.runId }, answer)))
    ), async ({ waiting }) => Promise.all(waiting.map((one) => ask(one, call))))
  },
  makeReader: () => reader(partReader()),
}

/** Each of the streams is the same run, which goes on after one more answer. */
async function* step(
  call: Call, starts: readonly (() => Promise<Streamed>)[],
): AgentStep<State> {
  const read = reader(partReader())
  const waiting: PlainMembers[] = []
  let runId = ''
  for (const start of starts) {
    const streamed = await start()
    runId = streamed.runId
    for await (const chunk of streamed.fullStream) {
      if (isWaiting(chunk)) {
        waiting.push(membersIn(chunk))
        continue
      }
      const shown = read(chunk, call)
      if (shown !== undefined) yield shown
    }
  }
  return waiting.length > 0 ? { runId, waiting } : undefined
}

async function resume(
  theirs: Theirs, options: object, { toolCallId, approved, data }: Answer,
): Promise<Streamed> {
  const more = { ...options, toolCallId }
  if (approved === undefined) return theirs.resumeStream(data, more)
  return approved ? theirs.approveToolCall(more) : theirs.declineToolCall(more)
}

/** Asks whether a tool may run, or what a tool itself asks. Who gives no answer has declined. */
async function ask({ type, payload }: PlainMembers, call: Call): Promise<Answer> {
  const { toolCallId, toolName, args, suspendPayload, resumeSchema } = membersIn(payload)
  const key = `mastra-${String(toolCallId)}`
  if (type === 'tool-call-approval') {
    return { toolCallId, approved: await askApproval(call, key, String(toolName), args) }
  }
  const schema: unknown = typeof resumeSchema === 'string' ? JSON.parse(resumeSchema) : undefined
  const asked = typeof suspendPayload === 'object' ? { ...suspendPayload, schema } : suspendPayload
  const data = await askFreely(call, key, asked)
  return data === null ? { toolCallId, approved: false } : { toolCallId, data }
}

function isWaiting(chunk: object): boolean {
  const type = readMember(chunk, 'type')
  return type === 'tool-call-approval' || type === 'tool-call-suspended'
}

const WAITS = 'A tool waits for an answer, which only an agent that is served as it is can ask for; '
  + 'write agents: [agent]'

function reader(read: Read): Read {
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
function readResult(result: object, read: Read, call: Call): Shown {
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
  const { text, files } = presentMessage(prompt, call)
  // Its agents always have instructions.
  const earlier = earlierMessages(call, true)
  if (files.length === 0) return [...earlier, { role: 'user', content: text }]
  const parts = files.map(({ data, mediaType, name }) => mediaType.startsWith('image/')
    ? { type: 'image', image: `data:${mediaType};base64,${data}`, mimeType: mediaType }
    : { type: 'file', data, mediaType, mimeType: mediaType, ...name !== undefined && { filename: name } })
  return [...earlier, { role: 'user', content: [{ type: 'text', text }, ...parts] }]
}
