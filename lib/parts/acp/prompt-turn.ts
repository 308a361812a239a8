/** One prompt: the agent's run, and what the client is shown of it. Spec: ACP 1, Prompt Turn. */
import { isRecord, text } from '../../kernel/define/content.ts'
import { usageMeta } from '../../kernel/define/event.ts'
import { asFault, Fault } from '../../kernel/define/fault.ts'
import { LiveCall } from '../../kernel/define/live-call.ts'
import { answerMessage, plainChannel } from '../../floors/conversations/answer-message.ts'
import { LineOrigin } from '../../floors/lines/line-server.ts'
import { getPrompt } from '../../kernel/run/reading.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { commandIn } from './commands.ts'
import { encodeBlock, promptTextOf } from './content.ts'
import { canAskOverAcp } from './questions.ts'
import type { Answer } from '../../floors/answers/answer.ts'
import type { AnswerEvent } from '../../floors/answers/run-event.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { CallChannel, CallFacts, ClientInfo, Trace } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { CallEvent } from '../../kernel/define/event.ts'
import type { Ability, Question } from '../../kernel/define/question.ts'
import type { UserMessage } from '../../floors/conversations/answer-message.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { Command } from './commands.ts'
import type { PromptContent } from './content.ts'
import type { AcpAbilities } from './questions.ts'
import type { AcpSession } from './session.ts'

/** The way to the client, and what is known of it. */
export interface AcpClient {
  readonly info: ClientInfo | undefined
  readonly abilities: AcpAbilities
  update(sessionId: string, update: object): void
  notify(method: string, params: object): void
  /** Asks on behalf of a run; withdraws the question when that ends. */
  ask(turn: PromptTurn, question: Question): Promise<unknown>
  /** Resolves when the client has taken enough for more to be sent; undefined: it has already. */
  ready(): Promise<void> | undefined
}

/** The result of `session/prompt`. */
export interface PromptAnswer { readonly stopReason: 'end_turn' | 'refusal' | 'cancelled' }

/** What the agent gets; a command puts something else in the place of what was written. */
type PromptInput = CallFacts & UserMessage & { prompt: string; message: readonly Content[] }

export class PromptTurn implements CallChannel {
  readonly session: AcpSession
  readonly call: LiveCall
  readonly log: NonNullable<CallChannel['log']>
  /** Questions without an answer, each as the function that withdraws it. */
  readonly questions: Set<(reason: Fault) => void> = new Set()
  readonly #service: Service
  readonly #agent: Agent | Group
  readonly #client: AcpClient
  readonly #input: PromptInput
  #commandCall: LiveCall | undefined
  #hasPiece = false

  constructor(
    service: Service, agent: Agent | Group, session: AcpSession, client: AcpClient,
    { prompt, message }: PromptContent, metadata: Readonly<Record<string, unknown>>, readLength: number,
  ) {
    const origin = new LineOrigin()
    this.session = session
    this.#service = service
    this.#agent = agent
    this.#client = client
    this.#input = {
      protocol: 'acp', sessionId: session.id, client: client.info, trace: traceIn(metadata), metadata,
      prompt, message, readLength, conversationId: session.id, isNamed: true,
    }
    this.call = new LiveCall(origin, this.#input, this)
    this.log = plainChannel(service, origin).log
  }

  /** Runs once. Rejects with a `Fault`; a cancelled run and a rejected prompt are answers. */
  async answer(): Promise<PromptAnswer> {
    try {
      const command = commandIn(this.#service.catalog, this.#input.prompt)
      if (command !== undefined) await this.#expand(command)
      return this.#finish(await answerMessage(
        this.#service, this.#agent, this.#input, this.call, this.#emit.bind(this),
      ))
    } catch (error) {
      const { kind, message, detail } = asFault(error)
      if (kind === 'cancelled') return { stopReason: 'cancelled' }
      if (kind !== 'invalid' || !isRecord(detail) || detail['state'] !== 'rejected') throw error
      if (!this.#hasPiece) this.#show(text(message))
      return { stopReason: 'refusal' }
    } finally {
      // The client's user should not see a question that the agent did not wait for.
      for (const withdraw of this.questions) withdraw(new Fault('cancelled', 'The call has ended'))
    }
  }

  cancel(): void {
    for (const call of [this.#commandCall, this.call]) call?.disconnect('The client has cancelled the prompt')
  }

  /** Puts what a prompt of the server says in place of the command. */
  async #expand({ name, args }: Command): Promise<void> {
    const input = this.#input
    this.#commandCall = new LiveCall(this.call.origin, input, this)
    const { messages } = await getPrompt(this.#service, name, args, this.#commandCall)
    const written = messages.map(({ content }) => content)
    input.prompt = promptTextOf(written)
    input.message = [...written, ...input.message.filter(({ type }) => type !== 'text')]
  }

  can(what: Ability): boolean { return canAskOverAcp(this.#client.abilities, what) }

  ask(question: Question): Promise<unknown> {
    // They came with the session.
    if (question.what === 'roots') return Promise.resolve(this.session.roots)
    return this.#client.ask(this, question)
  }

  completeElicitation(elicitationId: string): void {
    if (this.can('elicit-url')) this.#client.notify('elicitation/complete', { elicitationId })
  }

  event(event: CallEvent): void {
    switch (event.type) {
      case 'reasoning':
        if (event.text === '') return
        return this.update({ sessionUpdate: 'agent_thought_chunk', content: text(event.text) })
      case 'tool-call': {
        const { id, name, args } = event
        return this.update({
          sessionUpdate: 'tool_call', toolCallId: this.toolCallId(id), title: name, name, kind: 'other',
          status: 'in_progress', rawInput: isRecord(args) ? args : undefined,
          content: isRecord(args) ? undefined : shownOf(args),
        })
      }
      case 'tool-result': {
        const { id, result, isError } = event
        return this.update({
          sessionUpdate: 'tool_call_update', toolCallId: this.toolCallId(id),
          status: isError === true ? 'failed' : 'completed',
          rawOutput: isRecord(result) ? result : undefined, content: shownOf(result),
        })
      }
      case 'usage': return undefined
    }
  }

  /** Calls of tools have ids of one session; authors give ids of one run. */
  toolCallId(id: string): string { return `${this.call.requestId}:${id}` }

  update(update: object): void { this.#client.update(this.session.id, update) }

  #emit(event: AnswerEvent): Promise<void> | undefined {
    if (event.type !== 'piece') return undefined
    this.#hasPiece = true
    this.#show(event.content)
    return this.#client.ready()
  }

  #finish({ content, data, artifacts = [] }: Answer): PromptAnswer {
    // An answer that came whole is one piece.
    if (!this.#hasPiece) for (const block of content) this.#show(block)
    for (const { parts } of artifacts) for (const part of parts) this.#show(part)
    const meta = { ...usageMeta(this.call.usage), ...data !== undefined && { 'triport/data': data } }
    return { stopReason: 'end_turn', ...Object.keys(meta).length > 0 && { _meta: meta } }
  }

  #show(block: Content): void {
    if (block.type === 'text' && block.text === '') return
    this.update({ sessionUpdate: 'agent_message_chunk', content: encodeBlock(block) })
  }
}

function traceIn({ traceparent, tracestate, baggage }: Readonly<Record<string, unknown>>): Trace | undefined {
  if (typeof traceparent !== 'string') return undefined
  return {
    traceparent,
    ...typeof tracestate === 'string' && { tracestate },
    ...typeof baggage === 'string' && { baggage },
  }
}

/**
 * Arguments or a result as what a tool call shows. What is no object is shown alone: older clients refuse an
 * update with anything else as its `rawInput` or `rawOutput`, and the call would not end for them.
 */
function shownOf(value: unknown): readonly object[] | undefined {
  const shown = typeof value === 'string' ? value : formatJson(value)
  return shown === undefined ? undefined : [{ type: 'content', content: text(shown) }]
}
