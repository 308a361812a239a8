/**
 * An answer of a model: a prompt and the conversation in, its text out as it arrives. The model may call
 * tools, round by round. Whatever ends a request, no connection and no timer is left.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create
 */
import { parseJson, usualBounds } from '../../floors/bounds/parse-json.ts'
import { eventReader } from '../../floors/outbound/event-reader.ts'
import { outgoingOf } from '../../floors/outbound/outgoing.ts'
import { Fault, secondsIn } from '../../kernel/define/fault.ts'
import { Clock } from '../../kernel/util/clock.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { messageParts } from './message-parts.ts'
import { ChatCompletion, failure, MAX_LENGTH, TOO_MUCH } from './openai-completion.ts'
import { ToolCalls } from './tool-calls.ts'
import type { Piece } from '../../kernel/define/answer.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { ClientTool } from '../../kernel/define/client-tool.ts'
import type { Model } from './openai-completion.ts'

/** Throws a `Fault`, which is logged. */
export async function* answerByModel(model: Model, prompt: string, call: Call): AsyncGenerator<Piece> {
  try {
    yield* rounds(model, prompt, call)
  } catch (error) {
    if (error instanceof Fault) {
      model.log('warning', error.message, { request: call.requestId, why: error.cause })
    }
    throw error
  }
}

async function* rounds(model: Model, prompt: string, call: Call): AsyncGenerator<Piece> {
  const messages = messagesOf(model, prompt, call)
  const toolCalls = new ToolCalls(model, call)
  const offered = offeredTools(model, call)
  const asked = { ...clientToolsOf(model, offered), ...formatOf(model, call) }
  const hasTools = model.tools.size > 0 || call.clientTools.length > 0
  const [choice, lastChoice] = choicesOf(model, call, offered)
  let hasText = false
  for (let step = 0; ; step++) {
    const isLast = step === model.maxSteps
    const members = { messages, ...asked, ...isLast ? hasTools && lastChoice : choice }
    const completion = new ChatCompletion(model, (text) => call.event({ type: 'reasoning', text }))
    let gap = hasText ? '\n\n' : ''
    for await (const text of request(model, members, completion, call.signal, outgoingOf(call))) {
      yield gap + text
      gap = ''
      hasText = true
    }
    if (completion.usage !== undefined) call.event({ type: 'usage', ...completion.usage })
    if (completion.isRefused) yield { state: 'rejected' }
    const calls = completion.isRefused ? [] : completion.calls()
    if (calls.length === 0) return
    const forClient = calls.flatMap(({ id, name, input = {} }) => (
      !model.tools.has(name) && isOffered(call, name) ? { id, name, args: input } : []
    ))
    if (forClient.length > 0) return yield { toolCalls: forClient }
    if (isLast) throw failure(model, `called tools ${step} times over and gave no answer`)
    const results = await Promise.all(calls.map((one) => toolCalls.run(one)))
    messages.push(completion.message(calls), ...calls.map(({ id }, at) => (
      { role: 'tool', tool_call_id: id, content: results[at] }
    )))
  }
}

function messagesOf({ instructions }: Model, prompt: string, call: Call): object[] {
  const parts = messageParts(call.message, prompt)
  const words = prompt === '' ? [] : [{ type: 'text', text: prompt }]
  const content = parts.length === 0 ? prompt : [...words, ...parts]
  const since = call.clientToolResults.flatMap(({ id, name, args, result }) => [
    {
      role: 'assistant', content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: formatJson(args) } }],
    },
    { role: 'tool', tool_call_id: id, content: result },
  ])
  // A front end may have the agent begin, and models refuse a message without a word.
  const present = prompt === '' && parts.length === 0 && call.history.length + since.length > 0 ? []
    : [{ role: 'user', content }]
  if (instructions === undefined) return [...call.history, ...present, ...since]
  const earlier = call.history.map(({ role, content: text }) => (
    { role: role === 'system' ? 'user' : role, content: text }
  ))
  return [{ role: 'system', content: instructions }, ...earlier, ...present, ...since]
}

/** The client's tools that the model can call. Of two with one name the agent's is called. */
function offeredTools({ tools: own }: Model, { clientTools }: Call): readonly ClientTool[] {
  return clientTools.filter(({ name }) => !own.has(name))
}

/** The tools of the client, beside the agent's own. */
function clientToolsOf({ request: { tools = [] } }: Model, offered: readonly ClientTool[]): object {
  return offered.length === 0 ? {} : { tools: [...[tools].flat(), ...offered.map(functionOf)] }
}

function functionOf({ name, description, inputSchema: parameters }: ClientTool): object {
  return { type: 'function', function: { name, description, parameters } }
}

/**
 * What the client asks the model to call, in each round and in the last, unless the agent's author has asked
 * for something. Where it must call a tool of the client, its last round has no others.
 */
function choicesOf(
  { request }: Model, { toolChoice: choice }: Call, offered: readonly ClientTool[],
): readonly [each: object, last: object] {
  const named = typeof choice === 'object' ? choice.name : undefined
  const isMust = named === undefined ? choice === 'required' && offered.length > 0
    : offered.some(({ name }) => name === named)
  if (!isMust || Object.hasOwn(request, 'tool_choice')) return [{}, { tool_choice: 'none' }]
  const toolChoice = named === undefined ? choice : { type: 'function', function: { name: named } }
  return [{ tool_choice: toolChoice }, { tool_choice: toolChoice, tools: offered.map(functionOf) }]
}

function isOffered({ clientTools }: Call, name: string): boolean {
  return clientTools.some((tool) => tool.name === name)
}

/** What the client asks the answer to be, unless the agent's author has asked for something. */
function formatOf({ request }: Model, { outputSchema: schema }: Call): object {
  if (schema === undefined || Object.hasOwn(request, 'response_format')) return {}
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }
}

/** The next piece of a reply, undefined at its end. */
type Read = (limitMs: number) => Promise<string | undefined>

/** Characters of one stream: a few of each hundred are text of the model. */
const MAX_STREAM = 32 * MAX_LENGTH
/** How far the stream is read after the end of the answer: read to its end, the connection can be kept. */
const TAIL_MS = 1_000
const TAIL_READS = 16
const CUT_OFF = 'broke off its answer'

/**
 * Sends a request, and yields the text of the reply. Throws a `Fault`: `busy` for 429, `timeout` after
 * `idleMs` of silence, else `upstream`; and the reason of `caller` once that is aborted.
 */
async function* request(
  model: Model, members: object, completion: ChatCompletion, caller: AbortSignal, traced: object,
): AsyncGenerator<string> {
  const isRefused = yield* attempt(model, members, completion, caller, traced)
  if (isRefused) yield* attempt(model, members, completion, caller, traced)
}

/** Models whose endpoint refuses to be asked for tokens. */
const strict = new WeakSet<Model>()

/** Returns whether only the question for tokens was refused, which is not asked again. */
async function* attempt(
  model: Model, members: object, completion: ChatCompletion, caller: AbortSignal, traced: object,
): AsyncGenerator<string, boolean> {
  const sending = new AbortController()
  const signal = AbortSignal.any([caller, sending.signal])
  const clock = new Clock()
  // Only waiting counts: a caller that reads slowly does not make the endpoint silent.
  const wait = <T>(limitMs: number, coming: Promise<T>): Promise<T> => {
    clock.limit(limitMs, () => {
      sending.abort(failure(model, `was silent for ${limitMs} ms`, undefined, 'timeout'))
    })
    return coming.finally(() => clock.clear())
  }
  const asksUsage = model.asksUsage && !strict.has(model)
  const counting = asksUsage ? { stream_options: { include_usage: true } } : {}
  const body = formatJson({ ...model.request, ...counting, ...members })
  try {
    // A redirect is not followed: it would carry the prompt, and keys in further headers, to another host.
    const { url, idleMs } = model
    const headers = { ...Object.fromEntries(model.headers), ...traced }
    const sent = fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    const response = await wait(idleMs, sent)
      .catch((error: unknown) => { throw failure(model, 'cannot be reached', error) })
    const reader = response.body?.getReader()
    const decoder = new TextDecoder()
    const read: Read = async (limitMs) => {
      const step = reader === undefined ? undefined : await wait(limitMs, reader.read())
      return step === undefined || step.done ? undefined : decoder.decode(step.value, { stream: true })
    }
    if (!response.ok) {
      const sent = await bodyOf(model, read).catch(() => '')
      const isStrict = (response.status === 400 || response.status === 422) && sent.includes('stream_options')
      if (!asksUsage || !isStrict) throw refusalOf(model, response, sent)
      strict.add(model)
      return true
    }
    if (/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) {
      completion.take(await bodyOf(model, read))
      completion.isOver = true
    }
    yield* stream(model, completion, read)
    return false
  } catch (error) {
    // After an abort a read fails in some way; the reason of the abort is the cause.
    if (signal.aborted) throw signal.reason
    if (error instanceof Fault) throw error
    throw failure(model, error instanceof RangeError ? TOO_MUCH : CUT_OFF, error)
  } finally {
    sending.abort()
  }
}

async function* stream(model: Model, completion: ChatCompletion, read: Read): AsyncGenerator<string> {
  const feed = eventReader(({ event, data }) => {
    if (data.trim() === '[DONE]') completion.isOver = true
    else if (data.trim() !== '') completion.take(data, event === 'error')
  }, MAX_LENGTH)
  let length = 0
  for (let left = TAIL_READS; left > 0; left -= Number(completion.isOver)) {
    const { fresh } = completion
    completion.fresh = ''
    if (fresh !== '') yield fresh
    const chunk = await (completion.isOver ? read(TAIL_MS).catch(() => undefined) : read(model.idleMs))
    if (chunk === undefined) break
    length += chunk.length
    if (length > MAX_STREAM) throw failure(model, TOO_MUCH)
    feed(chunk)
  }
  // Some endpoints leave out the finish reason, some the last event; an answer without both was cut off.
  if (!completion.hasChoice) throw failure(model, 'gave no answer')
  if (!completion.isOver) throw failure(model, CUT_OFF)
}

async function bodyOf(model: Model, read: Read): Promise<string> {
  let body = ''
  for (let chunk = await read(model.idleMs); chunk !== undefined; chunk = await read(model.idleMs)) {
    body += chunk
    if (body.length > MAX_LENGTH) throw failure(model, TOO_MUCH)
  }
  return body
}

function refusalOf(model: Model, { status, headers }: Response, body: string): Fault {
  // The message may hold the key, masked in a way that is not ours.
  if (status === 401 || status === 403) return failure(model, `refused this server's key`)
  const parsed = parseJson(body, usualBounds.maxDepth, usualBounds.maxObjects)
  const sent = parsed.ok ? parsed.value : undefined
  if (status === 404) return failure(model, 'was not found', sent)
  if (status === 429) return failure(model, 'is busy', sent, 'busy', secondsIn(headers))
  return failure(model, `${status >= 500 ? 'failed' : 'refused the request'} (${status})`, sent)
}
