/**
 * By hand: OpenAI's chat completions and Responses, AG-UI, and the AI SDK's chat.
 */
import { randomUUID } from 'node:crypto'
import { run } from '../author.js'
import { Call, eachPiece, EventStream, refuse, requestId, send } from './reply.js'

/** `POST /v1/chat/completions`. */
export function chat(response, { model, messages, stream }) {
  const question = lastOf(messages)?.content
  if (typeof model !== 'string' || typeof question !== 'string') return refuse(response)
  const id = requestId()
  if (stream === true) return streamChat(response, id, model, question)
  const content = run(question, new Call(response))
  const usage = tokens(question, content)
  send(response, id, JSON.stringify({
    id: `chatcmpl-${id}`, object: 'chat.completion', created: now(), model,
    choices: [{
      index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop',
    }],
    usage: {
      prompt_tokens: usage.read, completion_tokens: usage.written, total_tokens: usage.read + usage.written,
      estimated: true,
    },
  }))
}

async function streamChat(response, id, model, question) {
  const events = new EventStream(response, id)
  const created = now()
  const chunk = (delta, reason = null) => event({
    id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created, model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  })
  events.write(chunk({ role: 'assistant', content: '' }))
  await each(response, question, (content) => events.write(chunk({ content })))
  events.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
}

/** `POST /v1/responses`. */
export function responses(response, { model, input, store = true, stream }) {
  if (typeof model !== 'string' || typeof input !== 'string') return refuse(response)
  const made = { id: idFor('resp'), createdAt: now(), model, store }
  if (stream === true) return streamResponse(response, made, input)
  const text = run(input, new Call(response))
  send(response, requestId(), JSON.stringify(ended(made, messageOf(idFor('msg'), text), input, text)))
}

async function streamResponse(response, made, input) {
  const events = new EventStream(response, requestId())
  let count = 0
  const emit = (event) => events.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const write = (type, members) => emit({ type, sequence_number: count++, ...members })
  const writeIn = (type, members) => write(type, { output_index: 0, ...members })
  const begun = responseOf(made, 'in_progress', null, [], null)
  write('response.created', { response: begun })
  write('response.in_progress', { response: begun })
  const id = idFor('msg')
  const place = { item_id: id, content_index: 0 }
  let text = ''
  await each(response, input, (delta) => {
    if (text === '') {
      writeIn('response.output_item.added', {
        item: { type: 'message', id, status: 'in_progress', role: 'assistant', content: [] },
      })
      writeIn('response.content_part.added', { ...place, part: partOf('') })
    }
    text += delta
    emit({
      type: 'response.output_text.delta', sequence_number: count++, output_index: 0, item_id: id,
      content_index: 0, delta, logprobs: [],
    })
  })
  const item = messageOf(id, text)
  writeIn('response.output_text.done', { ...place, text, logprobs: [] })
  writeIn('response.content_part.done', { ...place, part: partOf(text) })
  writeIn('response.output_item.done', { item })
  write('response.completed', { response: ended(made, item, input, text) })
  events.end('data: [DONE]\n\n')
}

function partOf(text) {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function messageOf(id, text) {
  return { type: 'message', id, status: 'completed', role: 'assistant', content: [partOf(text)] }
}

function ended(made, item, input, text) {
  const usage = tokens(input, text)
  return responseOf(made, 'completed', now(), [item], {
    input_tokens: usage.read, output_tokens: usage.written, total_tokens: usage.read + usage.written,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 }, estimated: true,
  })
}

function responseOf({ id, createdAt, model, store }, status, completedAt, output, usage) {
  return {
    id, object: 'response', created_at: createdAt, completed_at: completedAt,
    status, incomplete_details: null, model, previous_response_id: null, instructions: null,
    output,
    error: null, tools: [], tool_choice: 'auto', truncation: 'disabled', parallel_tool_calls: true,
    text: { format: { type: 'text' } }, top_p: 1, temperature: 1, presence_penalty: 0, frequency_penalty: 0,
    reasoning: null, top_logprobs: 0, max_output_tokens: null, max_tool_calls: null, user: null,
    usage, store, background: false, service_tier: 'default', access_programs: null, metadata: {},
    safety_identifier: null, prompt_cache_key: null,
  }
}

/** `POST /agui`. */
export async function agui(response, { threadId, runId, messages }) {
  const question = lastOf(messages)?.content
  if (typeof threadId !== 'string' || typeof runId !== 'string' || typeof question !== 'string') {
    return refuse(response)
  }
  const events = new EventStream(response, requestId())
  const messageId = randomUUID()
  write(events, { type: 'RUN_STARTED', threadId, runId })
  let isOpen = false
  await each(response, question, (delta) => {
    if (!isOpen) write(events, { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    isOpen = true
    write(events, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
  })
  write(events, { type: 'TEXT_MESSAGE_END', messageId })
  events.end(event({ type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' } }))
}

/** `POST /ui-stream`. */
export async function ui(response, { messages }) {
  const question = lastOf(messages)?.parts?.find(({ type }) => type === 'text')?.text
  if (typeof question !== 'string') return refuse(response)
  const events = new EventStream(response, requestId(), { 'X-Vercel-AI-UI-Message-Stream': 'v1' })
  const id = randomUUID()
  write(events, { type: 'start' })
  write(events, { type: 'start-step' })
  let isOpen = false
  await each(response, question, (delta) => {
    if (!isOpen) write(events, { type: 'text-start', id })
    isOpen = true
    write(events, { type: 'text-delta', id, delta })
  })
  write(events, { type: 'text-end', id })
  write(events, { type: 'finish-step' })
  write(events, { type: 'finish', finishReason: 'stop' })
  events.end('data: [DONE]\n\n')
}

/** The last message of the user; undefined where there is none. */
function lastOf(messages) {
  return Array.isArray(messages) ? messages.findLast((one) => one?.role === 'user') : undefined
}

/** Each piece of what the agent says. */
async function each(response, query, take) {
  const said = run(query, new Call(response))
  if (typeof said === 'string') return take(said)
  await eachPiece(response, said, take)
}

function write(events, members) {
  events.write(event(members))
}

function event(members) {
  return `data: ${JSON.stringify(members)}\n\n`
}

/** A token for every four bytes. */
function tokens(read, written) {
  return { read: Math.ceil(Buffer.byteLength(read) / 4), written: Math.ceil(Buffer.byteLength(written) / 4) }
}

function idFor(prefix) {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`
}

function now() {
  return Math.floor(Date.now() / 1000)
}
