/**
 * The questions of a task of 2025-11-25 on the streams of its client: each is asked on one stream, and taken
 * back where it stands no longer. Where the task runs in another process, that process lends its questions to
 * the stream that is here; where nobody runs it any more, its answers begin it again.
 */
import { asFault, Fault } from '../../define/fault.ts'
import { sendQuestion } from '../session/ask.ts'
import { canAsk } from '../protocol/questions.ts'
import { META } from '../protocol/revisions.ts'
import type { PeerChannel, ChannelListener } from '../../state/peer-channels.ts'
import type { Question } from '../../define/question.ts'
import type { Task, TaskQuestion } from '../../tasks/task.ts'
import type { Asking } from '../session/ask.ts'
import type { Outlet } from '../session/session.ts'
import type { McpRequest } from '../request/request.ts'

/** A stream to ask on. */
export interface AskingStream {
  /**
   * Asks. Throws `Fault('unsupported')` for what its client cannot be asked; the answer rejects with one
   * where there is no client any more to give it.
   */
  ask(key: string, question: Question): Asking
  /** Whether its client is there. Left out: that is not known. */
  isConnected?(): boolean
}

/** Where answers go. */
export interface AskingEnds {
  answer(key: string, answer: unknown): void
  refuse(key: string, reason: Fault): void
  /** The stream for what no other takes, if there is one. */
  fallback?(): AskingStream | undefined
}

/** What stands in the `_meta` of every message about a task. */
export function related(taskId: string): Readonly<Record<string, unknown>> {
  return { [`${META}related-task`]: { taskId } }
}

/** A stream of the session of a request; undefined while there is none. */
export function streamOf(
  request: McpRequest, taskId: string, outlet: Outlet | undefined,
): AskingStream | undefined {
  const { session, peer, mcp: { service: { limits } } } = request
  if (session === undefined || outlet === undefined) return undefined
  return {
    ask(_key, question) {
      if (!canAsk(peer, question.what)) throw new Fault('unsupported', 'This client cannot be asked that')
      const send = (message: string): void => outlet.send(message)
      const asking = sendQuestion(question, peer, session, send, limits.maxCheckSteps, related(taskId))
      // A task may outlive the session that it was begun in.
      const answer = asking.answer.catch((reason: unknown) => {
        throw session.isOver ? new Fault('unsupported', 'The session has ended') : reason
      })
      return { answer, withdraw: (reason) => asking.withdraw(reason) }
    },
    isConnected: () => outlet.isConnected !== false,
  }
}

function isConnected(stream: AskingStream): boolean {
  return stream.isConnected?.() !== false
}

/** The questions of one task. */
export class TaskAsking {
  readonly #ends: AskingEnds
  readonly #streams = new Set<AskingStream>()
  readonly #asking = new Map<string, { readonly stream: AskingStream; readonly asking: Asking }>()
  /** What the clients of streams migration could not be asked. */
  readonly #unable = new WeakMap<AskingStream, Set<string>>()
  #questions: readonly TaskQuestion[] = []

  constructor(ends: AskingEnds) {
    this.#ends = ends
  }

  /** Lets questions go out on one more stream, as long as it is open. */
  attach(stream: AskingStream): () => void {
    this.#streams.add(stream)
    if (isConnected(stream)) this.#takeUnheard()
    this.#ask()
    return () => this.#streams.delete(stream)
  }

  /** A stream is gone for good: what was asked on it is asked on another. */
  lose(stream: AskingStream): void {
    this.#streams.delete(stream)
    for (const [key, one] of this.#asking) if (one.stream === stream) this.#asking.delete(key)
    this.#ask()
  }

  /** These stand, and no others. */
  show(questions: readonly TaskQuestion[]): void {
    this.#questions = questions
    for (const [key, { asking }] of this.#asking) {
      if (questions.some((one) => one.key === key)) continue
      this.#asking.delete(key)
      asking.withdraw(new Fault('cancelled', 'The question stands no longer'))
    }
    this.#ask()
  }

  /** What was asked where no client is there is asked again. */
  #takeUnheard(): void {
    for (const [key, { stream, asking }] of this.#asking) {
      if (isConnected(stream)) continue
      this.#asking.delete(key)
      asking.withdraw(new Fault('cancelled', 'The question is asked on another stream'))
    }
  }

  #ask(): void {
    if (this.#questions.length === 0) return
    const fallback = this.#ends.fallback?.()
    const all = fallback === undefined ? [...this.#streams] : [...this.#streams, fallback]
    const streams = [...all.filter(isConnected), ...all.filter((one) => !isConnected(one))]
    for (const { key, question } of this.#questions) {
      if (!this.#asking.has(key)) streams.find((stream) => this.#askOn(stream, key, question))
    }
  }

  /** False where the client behind a stream cannot be asked that. */
  #askOn(stream: AskingStream, key: string, question: Question): boolean {
    if (this.#unable.get(stream)?.has(key) === true) return false
    let asking: Asking
    try {
      asking = stream.ask(key, question)
    } catch {
      return false
    }
    const one = { stream, asking }
    this.#asking.set(key, one)
    const isAsked = (): boolean => this.#asking.get(key) === one
    asking.answer.then((answer) => { if (isAsked()) this.#ends.answer(key, answer) }, (reason: unknown) => {
      if (!isAsked()) return
      const fault = asFault(reason)
      if (fault.kind !== 'unsupported') return this.#ends.refuse(key, fault)
      this.#asking.delete(key)
      this.#unable.set(stream, (this.#unable.get(stream) ?? new Set()).add(key))
      this.#ask()
    })
    return true
  }
}

const LEND = 'task-ask'

/** The asking of tasks that run here, by their ids, for the streams of other processes. */
export function lendQuestions(
  { channels }: NonNullable<McpRequest['mcp']['service']['shared']>,
  find: (owner: string, id: string) => TaskAsking | undefined,
): void {
  channels.on(LEND, (question, line) => {
    const [owner, id] = question as readonly [string, string]
    const asking = find(owner, id)
    return asking && lendTo(asking, line)
  })
}

function lendTo(asking: TaskAsking, line: PeerChannel): ChannelListener {
  const open = new Map<string, { resolve(answer: unknown): void; reject(reason: Fault): void }>()
  const stream: AskingStream = {
    ask(key, question) {
      const answer = new Promise<unknown>((resolve, reject) => { open.set(key, { resolve, reject }) })
      line.send(['ask', key, question])
      return { answer, withdraw: () => line.send(['withdraw', key]) }
    },
  }
  let isOver = false
  // The line has its ends when this returns, and answers are heard from then on.
  setImmediate(() => { if (!isOver) asking.attach(stream) })
  const lost = (): void => {
    isOver = true
    asking.lose(stream)
  }
  return {
    onMessage(word) {
      const [act, key, said] = word as readonly ['answer' | 'refuse' | 'pass', string, unknown]
      if (act === 'answer') open.get(key)?.resolve(said)
      else open.get(key)?.reject(new Fault(act === 'pass' ? 'unsupported' : 'failed', String(said)))
      open.delete(key)
    },
    onEnd: lost, onLost: lost,
  }
}

/** One stream on which somebody waits for a task, wherever that runs by now. */
export class TaskStream {
  readonly #request: McpRequest
  readonly #stream: AskingStream
  /** Asks where nobody else does. */
  readonly #alone: TaskAsking
  readonly #find: (id: string) => TaskAsking | undefined
  #where: unknown
  #leave: (() => void) | undefined
  #isAlone = false
  #task: Task

  constructor(
    request: McpRequest, task: Task, stream: AskingStream, find: (id: string) => TaskAsking | undefined,
  ) {
    this.#request = request
    this.#task = task
    this.#stream = stream
    this.#find = find
    const { shared, log } = request.mcp.service
    const lost = (cause: unknown): void => (
      log('warning', 'An answer could not be brought to its task', { task: task.id, cause })
    )
    this.#alone = new TaskAsking({
      answer: (key, answer) => {
        shared?.remoteTasks.answer(this.#task, new Map([[key, answer]])).catch(lost)
      },
      refuse: (key, { message }) => { shared?.remoteTasks.refuse(this.#task, key, message).catch(lost) },
    })
    this.#alone.attach(stream)
  }

  /** The task as it stands now. */
  look(task: Task): void {
    this.#task = task
    const here = this.#find(task.id)
    if (here !== undefined) return this.#at(here, () => here.attach(this.#stream))
    const { shared } = this.#request.mcp.service
    const node = shared?.remoteTasks.nodeOf(task)
    if (shared === undefined || node === undefined) return this.#askAlone()
    this.#at(node, () => this.#borrow(shared.channels, node))
  }

  leave(): void {
    this.#leave?.()
    this.#alone.show([])
  }

  #at(where: unknown, join: () => () => void): void {
    if (this.#where === where) {
      if (this.#isAlone) this.#askAlone()
      return
    }
    this.leave()
    this.#where = where
    this.#isAlone = false
    this.#leave = join()
  }

  #askAlone(): void {
    this.#isAlone = true
    this.#alone.show(this.#task.questions)
  }

  #borrow(
    channels: NonNullable<McpRequest['mcp']['service']['shared']>['channels'], node: string,
  ): () => void {
    const asked = new Map<string, Asking>()
    const lost = (): void => { if (this.#where === node) this.#askAlone() }
    const { id, owner } = this.#task
    const line = channels.open(node, LEND, [owner, id], {
      onMessage: (word) => {
        const [act, key, question] = word as readonly ['ask' | 'withdraw', string, Question]
        if (act === 'withdraw') return asked.get(key)?.withdraw(new Fault('cancelled', 'It stands no longer'))
        let asking: Asking
        try {
          asking = this.#stream.ask(key, question)
        } catch {
          return line.send(['pass', key])
        }
        asked.set(key, asking)
        asking.answer.then(
          (answer) => line.send(['answer', key, answer]),
          (reason: unknown) => {
            const { kind, message } = asFault(reason)
            line.send(kind === 'unsupported' ? ['pass', key] : ['refuse', key, message])
          },
        )
      },
      onEnd: lost, onLost: lost,
    })
    return () => line.end()
  }
}
