/**
 * By hand: OpenAI's chat completions and Responses, AG-UI, and the AI SDK's chat.
 */
import { randomUUID } from 'node:crypto'
import { run } from '../author.js'
import { Call, eachPiece, EventStream, refuse, requestId, send } from './reply.js'

/** `POST /v1/chat/completions`. */
export function chat(response, { model, messages }) {
  const question = lastOf(messages)?.content
  if (typeof model !== 'string' || typeof question !== 'string') return refuse(response)
  const id = requestId()
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

/** `POST /v1/responses`. */
export function responses(response, { model, input, store = true }) {
  if (typeof model !== 'string' || typeof input !== 'string') return refuse(response)
  const createdAt = now()
  const text = run(input, new Call(response))
  const usage = tokens(input, text)
  send(response, requestId(), JSON.stringify({
    id: idFor('resp'), object: 'response', created_at: createdAt, completed_at: now(),
    status: 'completed', incomplete_details: null, model, previous_response_id: null, instructions: null,
    output: [{
      type: 'message', id: idFor('msg'), status: 'completed', role: 'assistant',
      content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    }],
    error: null, tools: [], tool_choice: 'auto', truncation: 'disabled', parallel_tool_calls: true,
    text: { format: { type: 'text' } }, top_p: 1, temperature: 1, presence_penalty: 0, frequency_penalty: 0,
    top_logprobs: 0, max_output_tokens: null, max_tool_calls: null, reasoning: null, user: null,
    usage: {
      input_tokens: usage.read, output_tokens: usage.written, total_tokens: usage.read + usage.written,
      input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 },
      estimated: true,
    },
    store, background: false, service_tier: 'default', metadata: {}, safety_identifier: null,
    prompt_cache_key: null,
  }))
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
