/** Runs agents of Google's Agent Development Kit by their Runner, and reads its events. */
import { askApprovals, askFreely } from './shared/approval.ts'
import { earlierMessages, fileBlock, presentMessage } from './shared/message.ts'
import { readJson, readMember, wordIn } from './shared/shape.ts'
import { runSteps } from './shared/steps.ts'
import { countIn, Paragraphs, sayThought, sayToolCall, sayToolResult, sayUsage } from './shared/work.ts'
import type { Call } from '../kernel/define/call.ts'
import type { Adapter, ReadResult, Reader } from '../kernel/define/adapters.ts'
import type { ShownCall } from './shared/approval.ts'
import type { AgentStep } from './shared/steps.ts'

/** A call that is to be confirmed, and by what id. */
interface Confirmation extends ShownCall { readonly confirmId: string }

/** A part of a message: one of these. */
interface Part {
  readonly text?: string
  /** Whether the text is reasoning. */
  readonly thought?: boolean
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
  readonly functionCall?: FunctionCall
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: object }
}

interface FunctionCall { readonly id?: string; readonly name: string; readonly args?: unknown }

interface Message { readonly role: string; readonly parts: readonly Part[] }

interface Event {
  readonly content?: { readonly parts?: readonly Part[] }
  readonly partial?: boolean
  /** The status of the model's answer, or a word. */
  readonly errorCode?: string
  readonly errorMessage?: string
  readonly usageMetadata?: Readonly<Record<string, number | undefined>>
}

interface Session { readonly id: string }

interface Runner {
  readonly appName: string
  readonly agent: { readonly name: string; readonly outputSchema?: unknown }
  readonly sessionService: {
    createSession(of: object): Promise<Session>
    appendEvent(one: { session: Session; event: object }): Promise<unknown>
    deleteSession(of: object): Promise<unknown>
  }
  runAsync(options: object): AsyncIterable<Event>
}

const CONFIRM = 'adk_request_confirmation'
const INPUT = 'adk_request_input'
const CREDENTIAL = 'adk_request_credential'

export const adk: Adapter & Reader = {
  async* run(agent, prompt, call) {
    const runner = agent as Runner
    const { appName, sessionService } = runner
    const userId = call.principal.id
    const session = await sessionService.createSession({ appName, userId })
    try {
      for (const { role, content } of earlierMessages(call, true)) {
        const parts = [{ text: content }]
        const event = role === 'assistant' ? eventOf(runner.agent.name, { role: 'model', parts })
          : eventOf('user', { role: 'user', parts })
        await sessionService.appendEvent({ session, event })
      }
      let text = ''
      const turn = turnOf(runner, session, messageOf(prompt, call), call)
      const owner = `adk-${appName}-${runner.agent.name}`
      for await (const shown of runSteps(call, owner, turn, ({ asked }) => answersTo(asked, call))) {
        if (typeof shown === 'string') text += shown
        yield shown
      }
      const data = runner.agent.outputSchema === undefined ? undefined : readJson(text)
      if (data !== undefined) yield { data }
    } finally {
      await sessionService.deleteSession({ appName, userId, sessionId: session.id })
    }
  },
  makeReader,
}

/** What a run goes on from: all events since its message, and what is asked. */
interface Turn { readonly events: readonly object[]; readonly asked: readonly FunctionCall[] }

/** Runs from the message to its answer or to questions, then from the answers to these. */
function turnOf(
  runner: Runner, session: Session, first: Message, call: Call,
): (turn?: Turn, answers?: Message) => AgentStep<Turn> {
  const read = makeReader()
  /** How many events of the turn the session has. */
  let known = 0
  return async function* (turn, newMessage = first) {
    const events = [...turn?.events ?? []]
    for (const event of events.slice(known)) await runner.sessionService.appendEvent({ session, event })
    events.push(eventOf('user', newMessage))
    const asked: FunctionCall[] = []
    for await (const event of runner.runAsync({
      userId: call.principal.id, sessionId: session.id, newMessage, abortSignal: call.signal,
      runConfig: { streamingMode: 'sse' },
    })) {
      if (event.partial !== true) events.push(event)
      asked.push(...questionsIn(event))
      const shown = read(event, call)
      if (shown !== undefined) yield shown
    }
    known = events.length
    return asked.length === 0 ? undefined : { events, asked }
  }
}

function eventOf(author: string, content: Message): object {
  return {
    id: crypto.randomUUID(), invocationId: crypto.randomUUID(), author, content,
    timestamp: Date.now(),
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
  }
}

function questionsIn({ content }: Event): readonly FunctionCall[] {
  const calls = (content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
  if (calls.some(({ name }) => name === CREDENTIAL)) {
    throw new Error('A tool of the agent asks for a credential; give its Runner a credentialService')
  }
  return calls.filter(({ name }) => name === CONFIRM || name === INPUT)
}

/** The message that goes on: the answers of a person. */
async function answersTo(asked: readonly FunctionCall[], call: Call): Promise<Message> {
  const confirmations = asked.filter(({ name }) => name === CONFIRM).map(confirmationIn)
  const approvals = await askApprovals(call, confirmations, ({ confirmId }) => `adk-${confirmId}`)
  const confirmed = approvals.take(confirmations)
  const parts = confirmations.map(({ confirmId: id }, at): Part => (
    { functionResponse: { id, name: CONFIRM, response: { confirmed: confirmed[at] === true } } }
  ))
  // The kit hides the answer to a question from the model where it does not come as a text.
  for (const { id = '', name, args } of asked) {
    if (name === INPUT) parts.push({ text: await ask(call, id, args) })
  }
  return { role: 'user', parts }
}

/** The kit finds the call by its own id. */
function confirmationIn({ id: confirmId = '', args }: FunctionCall): Confirmation {
  const original = readMember(args, 'originalFunctionCall')
  return {
    confirmId, id: String(readMember(original, 'id') ?? confirmId),
    tool: String(readMember(original, 'name')), args: readMember(original, 'args'),
  }
}

async function ask(call: Call, id: string, args: unknown): Promise<string> {
  const message = wordIn(readMember(args, 'message')) ?? 'What is the answer?'
  return String(await askFreely(call, `adk-${id}`, message) ?? 'The user gave no answer.')
}

function messageOf(prompt: string, call: Call): Message {
  const { text, files } = presentMessage(prompt, call)
  const parts = files.map(({ data, mediaType }): Part => ({ inlineData: { data, mimeType: mediaType } }))
  return { role: 'user', parts: text === '' && parts.length > 0 ? parts : [{ text }, ...parts] }
}

function makeReader(): ReadResult {
  /** Whether pieces have come: then the whole that follows them is no news. */
  let isShown = false
  const paragraphs = new Paragraphs()
  let messages = 0
  return (value, call) => {
    const { content, partial, errorCode, errorMessage, usageMetadata } = value as Event
    if (errorCode !== undefined) {
      throw Object.assign(new Error(errorMessage ?? errorCode), { status: Number(errorCode) })
    }
    if (usageMetadata !== undefined && partial !== true) {
      const { promptTokenCount: inputTokens, candidatesTokenCount, thoughtsTokenCount } = usageMetadata
      const reasoningTokens = countIn(thoughtsTokenCount)
      const outputTokens = countIn(candidatesTokenCount) + reasoningTokens
      sayUsage(call, { inputTokens, outputTokens, reasoningTokens })
    }
    const isRepeated = isShown && partial !== true
    const message = messages
    if (content !== undefined) isShown = partial === true
    if (content !== undefined && partial !== true) messages++
    const parts = content?.parts ?? []
    for (const part of parts) emitEvents(part, isRepeated, call)
    if (isRepeated) return undefined
    const said = parts.map((part) => part.thought === true ? '' : part.text ?? '').join('')
    const text = paragraphs.next(message, said)
    const files = parts.flatMap(({ inlineData }) => (
      inlineData === undefined ? [] : [fileBlock({ ...inlineData, mediaType: inlineData.mimeType })]
    ))
    return files.length > 0 ? { text, content: files } : text === '' ? undefined : text
  }
}

/** Sends what a part says of the work. */
function emitEvents(part: Part, isRepeated: boolean, call: Call): void {
  const { text, thought, functionCall, functionResponse } = part
  if (thought === true && !isRepeated) sayThought(call, text)
  if (functionCall?.id !== undefined && functionCall.name !== CONFIRM && functionCall.name !== INPUT) {
    const { id, name, args } = functionCall
    sayToolCall(call, id, name, args)
  }
  if (functionResponse?.id !== undefined) {
    const { id, name, response } = functionResponse
    sayToolResult(call, id, name, response, 'error' in response)
  }
}

