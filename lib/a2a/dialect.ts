/**
 * What a dialect of A2A is: a record of methods and codecs. Types alone; each dialect is a file of its own,
 * and `dialects.ts` is the table of them.
 */
import type { Agent, Group, Skill } from '../core/agent.ts'
import type { Fault } from '../core/fault.ts'
import type { Service } from '../core/service.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Exchange } from '../http/exchange.ts'
import type { RpcError } from '../wire/jsonrpc.ts'

/** What a card tells, in the words of no dialect. */
export interface CardProfile {
  readonly name: string
  readonly description: string
  readonly version: string
  /** The absolute address that takes messages. */
  readonly url: string
  readonly streams: boolean
  /** Media types. */
  readonly inputModes: readonly string[]
  readonly outputModes: readonly string[]
  readonly skills: readonly Skill[]
  /** Callers need a key. */
  readonly isKeyed: boolean
}

/** Where the results of a method go that has more than one. */
export interface ResultSink {
  /** Takes the JSON text of one result. False: enough is waiting; whoever can wait awaits `ready()`. */
  send(result: string): boolean
  ready(): Promise<void>
  /** Ends the stream; with what was thrown, where it ends in an error. */
  end(thrown?: unknown): void
}

/**
 * Results that come one after the other. Begun exactly once; the returned function is called once when the
 * reader has got everything or has left.
 */
export interface ResultStream { open(sink: ResultSink): (() => void) | undefined }

/**
 * One method of a dialect: parsed params in, the JSON text of the result out, or a stream of them. Whatever
 * is wrong is thrown as a `Fault`. A result that is there at once is returned without a promise.
 */
export type Method = (
  service: Service, who: Agent | Group, params: unknown, exchange: Exchange,
) => MaybePromise<string | ResultStream>

/** One way of spelling A2A. */
export interface Dialect {
  readonly name: string
  readonly methods: ReadonlyMap<string, Method>
  /** Whether params of a method that several dialects have are in this one's shape, right or wrong. */
  speaks(params: unknown): boolean
  /** The error of an answer. `said` is the sentence that the caller may read. */
  encodeFault(fault: Fault, said: string): RpcError
  /** What this dialect's clients look for in the card. */
  encodeCard(profile: CardProfile): Readonly<Record<string, unknown>>
}
