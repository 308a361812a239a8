/**
 * A run of an agent as events with parts: the text or the reasoning that is open ends before anything else
 * begins.
 */
import { answerMessage } from '../conversations/answer-message.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { randomUuid } from '../../kernel/wire/random.ts'
import { formatEvent } from '../../kernel/wire/sse.ts'
import { RunStream } from './run-stream.ts'
import type { Agent, Group } from '../../kernel/define/agent.ts'
import type { Origin } from '../../kernel/define/call.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { GroupListener } from '../groups/group.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { KeyHold } from '../idempotency/idempotency.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'
import type { Answer } from '../answers/answer.ts'
import type { AgentInput } from '../chat/messages.ts'

export type PartKind = 'text' | 'reasoning'

export abstract class PartRun<I extends AgentInput> extends RunStream<Answer> {
  protected readonly agent: Agent | Group
  protected readonly input: I
  protected hasPiece = false
  #open: PartKind | undefined
  #id = ''

  constructor(service: Service, agent: Agent | Group, input: I, origin: Origin, hold?: KeyHold) {
    super(service, origin, hold, agent, input)
    this.agent = agent
    this.input = input
  }

  protected abstract beginPart(kind: PartKind, id: string): void
  protected abstract endPart(kind: PartKind, id: string): void

  /** False: the client is behind. `isFirst`: nothing came before. */
  protected abstract show(block: Content, isFirst: boolean): boolean

  protected answer(listener?: GroupListener): MaybePromise<Answer> {
    return answerMessage(this.service, this.agent, this.input, this.call, this.emit.bind(this), listener)
  }

  protected emit(piece: Content): void | Promise<void> {
    const isFirst = !this.hasPiece
    this.hasPiece = true
    if (!this.show(piece, isFirst)) return this.sink!.ready()
  }

  /** The id of the open part of a kind, which is begun where it is not open. */
  protected partOf(kind: PartKind): string {
    if (this.#open === kind) return this.#id
    this.closePart()
    this.#open = kind
    this.#id = randomUuid()
    this.beginPart(kind, this.#id)
    return this.#id
  }

  protected closePart(): void {
    const kind = this.#open
    if (kind === undefined) return
    this.#open = undefined
    this.endPart(kind, this.#id)
  }

  /** Ends the part that is open first. */
  protected write(event: object): boolean {
    this.closePart()
    return this.send(formatJson(event))
  }

  protected send(event: string): boolean { return this.sink!.write(formatEvent(event)) }
}
