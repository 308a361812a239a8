/** Runs agents of AG-UI, which are mostly elsewhere, and reads their events. */
import { askEach, askFreely } from './shared/approval.ts'
import { withPresent } from './shared/message.ts'
import { itemsIn, readJson, readMember } from './shared/shape.ts'
import { runSteps } from './shared/steps.ts'
import { Paragraphs, sayThought, sayToolCall, sayToolResult } from './shared/work.ts'
import { letEnd } from '../kernel/util/thenable.ts'
import { mainTypeOf } from '../kernel/wire/media.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Adapter, ReadResult, Reader, Shown } from '../kernel/define/adapters.ts'
import type { AttachedFile } from './shared/message.ts'
import type { AgentStep } from './shared/steps.ts'

interface Event { readonly type: string; readonly [member: string]: unknown }

/** A question that a run has ended with. */
interface Interrupt {
  readonly id: string
  readonly reason?: string
  readonly message?: string
  readonly responseSchema?: Readonly<Record<string, unknown>>
}

interface Theirs {
  agentId?: string
  threadId: string
  readonly messages: readonly object[]
  state: unknown
  clone(): Theirs
  setMessages(messages: readonly object[]): void
  abortRun(): void
  runAgent(options: object, subscriber: object): Promise<unknown>
}

/** What a run goes on from. */
interface Thread {
  readonly threadId: string
  readonly messages: readonly object[]
  readonly state: unknown
  readonly interrupts: readonly Interrupt[]
}

type Resume = readonly { readonly interruptId: string; readonly status: string; readonly payload?: unknown }[]

export const agUi: Adapter & Reader = {
  async* run(agent, prompt, call) {
    const theirs = agent as Theirs
    const read = makeReader()
    const run = async function* (thread?: Thread, resume?: Resume): AgentStep<Thread> {
      const one = theirs.clone()
      // A thread has one caller.
      one.threadId = thread?.threadId ?? crypto.randomUUID()
      one.setMessages(thread?.messages ?? messagesOf(prompt, call))
      if (thread !== undefined) one.state = thread.state
      let interrupts: readonly Interrupt[] = []
      for await (const event of eventsOf(one, resume, call)) {
        if (event.type === 'RUN_FINISHED') {
          const asked = readMember(event['outcome'], 'interrupts') ?? event['interrupts']
          interrupts = itemsIn(asked) as readonly Interrupt[]
        }
        const shown = read(event, call)
        if (shown !== undefined) yield shown
      }
      const { threadId, messages, state } = one
      return interrupts.length === 0 ? undefined : { threadId, messages, state, interrupts }
    }
    yield* runSteps(call, `ag-ui-${theirs.agentId}`, run, ({ interrupts }) => answersTo(interrupts, call))
  },
  makeReader,
}

/** The events of a run as they come. Throws where it fails. */
async function* eventsOf(one: Theirs, resume: Resume | undefined, call: Call): AsyncGenerator<Event> {
  let waiting: Event[] = []
  let isOver = false
  let wake = (): void => {}
  const abortController = new AbortController()
  const abort = (): void => {
    abortController.abort(call.signal.reason)
    letEnd(() => one.abortRun())
    wake()
  }
  call.signal.addEventListener('abort', abort, { once: true })
  const over = one.runAgent({ abortController, ...resume && { resume } }, {
    onEvent({ event }: { event: Event }) {
      waiting.push(event)
      wake()
    },
  }).finally(() => {
    isOver = true
    wake()
  })
  // It is awaited behind the last event.
  over.catch(() => {})
  try {
    while (!isOver || waiting.length > 0) {
      call.signal.throwIfAborted()
      if (waiting.length === 0) await new Promise<void>((resolve) => { wake = resolve })
      const events = waiting
      waiting = []
      for (const event of events) {
        call.signal.throwIfAborted()
        yield event
      }
    }
    await over
  } finally {
    call.signal.removeEventListener('abort', abort)
    if (!isOver) abort()
  }
}

function messagesOf(prompt: string, call: Call): readonly object[] {
  const all = withPresent(call.history, prompt, call, partOfFile)
  return all.map((one, at) => ({ id: `message-${at + 1}`, ...one }))
}

function partOfFile({ data, mediaType }: AttachedFile): object {
  const type = mainTypeOf(mediaType)
  return {
    type: ['image', 'audio', 'video'].includes(type) ? type : 'document',
    source: { type: 'data', value: data, mimeType: mediaType },
  }
}

async function answersTo(interrupts: readonly Interrupt[], call: Call): Promise<Resume> {
  const payloads = await askEach(interrupts, ({ id, reason, message, responseSchema: schema }) => {
    const asked = message ?? `It waits for an answer: ${reason ?? 'interrupt'}`
    return askFreely(call, `ag-ui-${id}`, { message: asked, schema })
  })
  return interrupts.map(({ id: interruptId }, at) => payloads[at] === null
    ? { interruptId, status: 'cancelled' } : { interruptId, status: 'resolved', payload: payloads[at] })
}

function makeReader(): ReadResult {
  const paragraphs = new Paragraphs()
  /** Whether text has come; else the answer is in what an agent says all messages are. */
  let hasText = false
  let answer: string | undefined
  /** The arguments of calls that are not whole, by id. */
  const calls = new Map<string, { readonly name: string; args: string }>()
  return (value, call): Shown | undefined => {
    const { type, delta, message, messageId, messages, newMessages, result } = value as Event
    // What runAgent gives, also after an error.
    if (Array.isArray(newMessages)) {
      const text = answerIn(newMessages)
      if (text !== undefined) return text
      throw new Error('The run of the agent has given no message; it may have failed')
    }
    const { toolCallId, toolCallName, content } = value as Event
    const id = String(toolCallId)
    const open = calls.get(id)
    switch (type) {
      case 'MESSAGES_SNAPSHOT':
        answer = answerIn(itemsIn(messages))
        break
      case 'RUN_ERROR':
        throw new Error(`The agent has failed: ${String(message)}`)
      case 'TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_CHUNK':
        hasText = true
        return typeof delta === 'string' ? paragraphs.next(messageId, delta) : undefined
      case 'REASONING_MESSAGE_CONTENT':
      case 'THINKING_TEXT_MESSAGE_CONTENT':
        sayThought(call, delta)
        break
      case 'TOOL_CALL_START':
        calls.set(id, { name: String(toolCallName), args: '' })
        break
      case 'TOOL_CALL_ARGS':
        if (open !== undefined) open.args += String(delta)
        break
      case 'TOOL_CALL_END':
        if (open !== undefined) sayToolCall(call, id, open.name, readJson(open.args) ?? open.args)
        calls.delete(id)
        break
      case 'TOOL_CALL_RESULT':
        sayToolResult(call, id, undefined, content)
        break
      case 'RUN_FINISHED': {
        const text = hasText || answer === undefined ? undefined : paragraphs.next(value, answer)
        answer = undefined
        return typeof result === 'object' && result !== null ? { text, data: result } : text
      }
    }
    return undefined
  }
}

/** The text of the last message but for those of tools, where it is the agent's. */
function answerIn(messages: readonly unknown[]): string | undefined {
  const last = messages.findLast((one) => readMember(one, 'role') !== 'tool')
  const text = readMember(last, 'content')
  return readMember(last, 'role') === 'assistant' && typeof text === 'string' ? text : undefined
}
