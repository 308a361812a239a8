/**
 * A model behind an OpenAI-compatible endpoint (OpenAI, Ollama, vLLM, LM Studio …) as an agent: options in,
 * its definition out. How it answers is loaded when it is first asked.
 */
import { defineAgent } from '../define/agent.ts'
import { modelOf } from './openai-options.ts'
import type { Agent } from '../define/agent.ts'
import type { Piece } from '../define/answer.ts'
import type { Call } from '../define/call.ts'
import type { Model, OpenaiOptions } from './openai-options.ts'

export type { OpenaiOptions } from './openai-options.ts'

/**
 * An agent that is answered by a model. What the model withholds is `rejected`; what goes wrong with it is a
 * `Fault`: `busy` for 429, `timeout` after `idleMs` of silence, else `failed`. Its cause, and the log, say
 * where and why; callers are not told. What goes wrong with a tool is told to the model. Pictures of the
 * present message are sent along, its other files are not. Throws `TypeError` for options that cannot work.
 */
export function openaiAgent(options: OpenaiOptions = {}): Agent {
  const model = modelOf(options)
  const { name = 'Assistant', description = `Answers with the model ${model.name}.` } = options
  return defineAgent({
    name,
    description,
    run: (prompt, call) => answer(model, prompt, call),
  })
}

async function* answer(model: Model, prompt: string, call: Call): AsyncGenerator<Piece> {
  const { answerByModel } = await import('./openai-answer.ts')
  yield* answerByModel(model, prompt, call)
}
