/**
 * An answer of a model: a prompt and what was said before in, its text out as it arrives. In between it calls
 * the tools beside it, round by round. Knows neither how a reply is spelled nor how a tool is run.
 */
import { Fault } from '../define/fault.ts'
import { ChatCompletion } from './openai-completion.ts'
import { failure } from './openai-failure.ts'
import { request } from './openai-request.ts'
import { ToolCalls } from './tool-calls.ts'
import type { Piece } from '../define/answer.ts'
import type { Call } from '../define/call.ts'
import type { Model } from './openai-options.ts'

/** Answers one prompt. Throws a `Fault`, which the log of the model has heard of. */
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
  let isSpeaking = false
  for (let step = 0; ; step++) {
    const isLast = step === model.maxSteps
    const members = { messages, ...isLast && model.tools.size > 0 && { tool_choice: 'none' } }
    const completion = new ChatCompletion(model)
    let gap = isSpeaking ? '\n\n' : ''
    for await (const text of request(model, members, completion, call.signal)) {
      toolCalls.piece()
      yield gap + text
      gap = ''
      isSpeaking = true
    }
    if (completion.isRefused) yield { state: 'rejected' }
    const calls = completion.isRefused ? [] : completion.calls()
    if (calls.length === 0) return
    if (isLast) throw failure(model, `called tools ${step} times over and gave no answer`)
    const results = await Promise.all(calls.map((one) => toolCalls.run(one)))
    messages.push(completion.message(calls), ...calls.map(({ id }, at) => (
      { role: 'tool', tool_call_id: id, content: results[at] }
    )))
  }
}

function messagesOf({ instructions }: Model, prompt: string, call: Call): object[] {
  const pictures = call.message.flatMap((block) => block.type !== 'image' ? []
    : [{ type: 'image_url', image_url: { url: `data:${block.mimeType};base64,${block.data}` } }])
  const content = pictures.length === 0 ? prompt : [{ type: 'text', text: prompt }, ...pictures]
  if (instructions === undefined) return [...call.history, { role: 'user', content }]
  const earlier = call.history.map(({ role, content: said }) => (
    { role: role === 'system' ? 'user' : role, content: said }
  ))
  return [{ role: 'system', content: instructions }, ...earlier, { role: 'user', content }]
}
