/**
 * A message to an agent and the message it answers with, in the words of no dialect, and the run between
 * the two. For dialects, and agents, without tasks: what happens on the way is not told, and whoever
 * leaves ends the run.
 */
import { randomUUID } from 'node:crypto'
import { LiveCall } from '../core/call.ts'
import { contentOf, text, textOf } from '../core/content.ts'
import { Fault } from '../core/fault.ts'
import { describe, logLevelOf } from '../core/log.ts'
import { answer } from '../core/operations.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { ArtifactInput, CallChannel, Origin } from '../core/call.ts'
import type { Severity } from '../core/log.ts'
import type { Answer } from '../core/answer.ts'
import type { Content } from '../core/content.ts'
import type { ChatMessage } from '../core/conversation.ts'
import type { Service } from '../core/service.ts'
import type { MaybePromise } from '../core/store.ts'

const none: readonly never[] = Object.freeze([])

/** What a client says. */
export interface UserMessage {
  /** At least one block. */
  readonly content: readonly Content[]
  /** The conversation it goes on with; undefined begins one. */
  readonly contextId: string | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/** What an agent answers. */
export interface AgentMessage {
  readonly id: string
  readonly contextId: string
  readonly content: readonly Content[]
}

/**
 * Runs an agent for a message. Synchronous where the agent and the conversations are. An agent that says
 * itself that it failed is `Fault('failed')`, one that will not do it `Fault('invalid')`, both with the
 * agent's text.
 */
export function converse(
  service: Service, who: Agent | Group, message: UserMessage, origin: Origin,
): AgentMessage | Promise<AgentMessage> {
  const run = new MessageRun(service, message, origin)
  const call = new LiveCall(origin, run)
  const recalled = run.recall()
  if (!(recalled instanceof Promise)) return run.start(who, call)
  origin.onGone(() => leave(call))
  return recalled.then(() => run.start(who, call))
}

function leave(call: LiveCall): void {
  call.cancel(new Fault('cancelled', 'The client has left'))
}

/** The texts of a message, one below the other: what an agent is asked. Empty where there are only files. */
export function promptOf(content: readonly Content[]): string {
  let prompt: string | undefined
  for (const block of content) {
    if (block.type === 'text') prompt = prompt === undefined ? block.text : `${prompt}\n${block.text}`
  }
  return prompt ?? ''
}

/** One message on its way: its place in the conversation, and what the agent leaves besides its answer. */
class MessageRun implements CallChannel {
  readonly protocol = 'a2a'
  readonly sessionId: string
  history: readonly ChatMessage[] = none
  readonly message: readonly Content[]
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly prompt: string
  readonly #service: Service
  readonly #origin: Origin
  readonly #isBegun: boolean
  #artifacts: Map<string | ArtifactInput, readonly Content[]> | undefined

  constructor(service: Service, { content, contextId, metadata }: UserMessage, origin: Origin) {
    this.sessionId = contextId ?? service.conversations.makeId()
    this.#isBegun = contextId === undefined
    this.message = content
    this.metadata = metadata
    this.prompt = promptOf(content)
    this.#service = service
    this.#origin = origin
  }

  log(level: Severity, data: unknown, logger: string | undefined): void {
    this.#service.log(logLevelOf(level), describe(data), { request: this.#origin.requestId, logger })
  }

  /** Where there are no tasks an artifact is a part of the answer. One without an id is one of its own. */
  artifact(artifact: ArtifactInput): void {
    const key = artifact.id ?? artifact
    const parts = artifact.parts.map((part) => typeof part === 'string' ? text(part) : contentOf(part))
    const before = artifact.append === true ? this.#artifacts?.get(key) ?? [] : []
    this.#artifacts ??= new Map()
    this.#artifacts.set(key, [...before, ...parts])
  }

  /** Learns what was said before. */
  recall(): MaybePromise<void> {
    if (this.#isBegun) return undefined
    const known = this.#service.conversations.history(this.#origin.principal.id, this.sessionId)
    if (known instanceof Promise) return known.then((messages) => { this.history = messages })
    this.history = known
    return undefined
  }

  start(who: Agent | Group, call: LiveCall): MaybePromise<AgentMessage> {
    const outcome = answer(this.#service, who, this.prompt, call)
    if (!(outcome instanceof Promise)) return this.finish(outcome)
    this.#origin.onGone(() => leave(call))
    return outcome.then((settled) => this.finish(settled))
  }

  finish({ state, text: said, content }: Answer): MaybePromise<AgentMessage> {
    if (state === 'failed') throw new Fault('failed', said || 'The agent failed', { state })
    if (state === 'rejected') throw new Fault('invalid', said || 'The agent rejected the message', { state })
    const artifacts = this.#artifacts === undefined ? none : [...this.#artifacts.values()].flat()
    const whole = artifacts.length === 0 ? content : [...content, ...artifacts]
    const reply = { id: randomUUID(), contextId: this.sessionId, content: whole }
    const recorded = this.#service.conversations.record(this.#origin.principal.id, this.sessionId, [
      { role: 'user', content: this.prompt === '' ? filesOf(this.message) : this.prompt },
      { role: 'assistant', content: whole === content ? said : textOf(whole) },
    ], this.history)
    return recorded instanceof Promise ? recorded.then(() => reply) : reply
  }
}

/** What stands in the history for a message without words. */
function filesOf(content: readonly Content[]): string {
  return content.map((block) => block.type === 'resource_link' ? block.name : block.type).join(', ')
}
