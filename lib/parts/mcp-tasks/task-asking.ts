/**
 * The questions of a task of 2025-11-25 on the streams of its client: each is asked on one stream, and
 * withdrawn when it is pending no longer. Where the task runs in another process, that process asks on the
 * stream that is here; where it runs nowhere any more, its answers begin it again.
 */
import { remoteTasksOf, tasksOf } from '../../floors/tasks/tasks-floor.ts'
import { sharedOf } from '../../floors/shared/shared-of.ts'
import { asFault, Fault } from '../../kernel/define/fault.ts'
import { sendQuestion } from '../mcp/session/messages.ts'
import { canAsk } from '../mcp/protocol/questions.ts'
import { META } from '../mcp/protocol/revisions.ts'
import type { RemoteTasks } from '../../floors/tasks/remote-tasks.ts'
import type { PeerChannel, ChannelListener } from '../../floors/shared/peer-channels.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { SharedProcesses } from '../../floors/shared/shared.ts'
import type { Task, TaskQuestion } from '../../floors/tasks/task.ts'
import type { Asking } from '../mcp/session/messages.ts'
import type { Outlet } from '../mcp/session/session.ts'
import type { McpFacts } from '../mcp/request/request.ts'

export interface QuestionStream {
  /**
   * Asks. Throws `Fault('unsupported')` for what its client cannot be asked; the answer rejects with one
   * where there is no client any more to give it.
   */
  ask(key: string, question: Question): Asking
  /** Whether its client is connected, as far as that is known. */
  isConnected(): boolean
}

export interface AnswerHandler {
  answer(key: string, answer: unknown): void
  refuse(key: string, reason: Fault): void
  /** There is no stream whose client can be asked that. */
  pass?(key: string): void
  /** The stream for what no other takes, if there is one. */
  fallback?(): QuestionStream | undefined
}

/** The `_meta` of every message about a task. */
export function related(taskId: string): Readonly<Record<string, unknown>> {
  return { [`${META}related-task`]: { taskId } }
}

/** A stream of the session of a call; undefined while there is none. */
export function streamOf(
  { session, peer, mcp: { service: { limits } } }: McpFacts, taskId: string, outlet: Outlet | undefined,
): QuestionStream | undefined {
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

/** Brings an answer, or a refusal, to a task of the caller, wherever it runs; nothing where it is gone. */
export function bring(
  { origin, mcp: { service } }: McpFacts, id: string, give: (to: RemoteTasks, task: Task) => Promise<void>,
): void {
  void (async () => {
    try {
      const task = await tasksOf(service).get(origin.principal.id, id)
      const remoteTasks = remoteTasksOf(service)
      if (task !== undefined && remoteTasks !== undefined) await give(remoteTasks, task)
    } catch (cause) {
      service.log('warning', 'An answer could not be brought to its task', { task: id, cause })
    }
  })()
}

export class TaskAsking {
  readonly #handler: AnswerHandler
  /** Each with the keys of questions that its client cannot be asked. */
  readonly #streams = new Map<QuestionStream, Set<string>>()
  readonly #asking = new Map<string, { readonly stream: QuestionStream; readonly asking: Asking }>()
  #questions: readonly TaskQuestion[] = []

  constructor(handler: AnswerHandler) {
    this.#handler = handler
  }

  /** Asks on one more stream too, as long as that is open. */
  attach(stream: QuestionStream): () => void {
    this.#streams.set(stream, new Set())
    // What was asked without a client is asked again where there is one.
    if (stream.isConnected()) {
      this.#withdraw('The question is asked on another stream', (_key, other) => !other.isConnected())
    }
    this.#ask()
    return () => this.#streams.delete(stream)
  }

  /** A stream is gone for good: what was asked on it is asked on another. */
  lose(stream: QuestionStream): void {
    this.#streams.delete(stream)
    for (const [key, one] of this.#asking) if (one.stream === stream) this.#asking.delete(key)
    this.#ask()
  }

  get questions(): readonly TaskQuestion[] { return this.#questions }

  /** These questions are pending, and no others: those are withdrawn. */
  show(questions: readonly TaskQuestion[], why = 'The question stands no longer'): void {
    this.#questions = questions
    this.#withdraw(why, (key) => !questions.some((one) => one.key === key))
    this.#ask()
  }

  /** A question is not pending any more, and need not be withdrawn. */
  drop(key: string): void {
    this.#questions = this.#questions.filter((one) => one.key !== key)
    this.#asking.delete(key)
  }

  #withdraw(why: string, isUnwanted: (key: string, stream: QuestionStream) => boolean): void {
    for (const [key, { stream, asking }] of this.#asking) {
      if (!isUnwanted(key, stream)) continue
      this.#asking.delete(key)
      asking.withdraw(new Fault('cancelled', why))
    }
  }

  #ask(): void {
    if (this.#questions.length === 0) return
    const fallback = this.#handler.fallback?.()
    const all = [...this.#streams.keys(), ...fallback === undefined ? [] : [fallback]]
    const streams = [true, false].flatMap((first) => all.filter((one) => one.isConnected() === first))
    for (const { key, question } of this.#questions) {
      if (this.#asking.has(key)) continue
      if (!streams.some((stream) => this.#askOn(stream, key, question))) this.#handler.pass?.(key)
    }
  }

  /** False where the client behind a stream cannot be asked that. */
  #askOn(stream: QuestionStream, key: string, question: Question): boolean {
    if (this.#streams.get(stream)?.has(key) === true) return false
    let asking: Asking
    try {
      asking = stream.ask(key, question)
    } catch {
      return false
    }
    const one = { stream, asking }
    this.#asking.set(key, one)
    const isAsked = (): boolean => this.#asking.get(key) === one
    const answered = (answer: unknown): void => { if (isAsked()) this.#handler.answer(key, answer) }
    asking.answer.then(answered, (reason: unknown) => {
      if (!isAsked()) return
      const fault = asFault(reason)
      if (fault.kind !== 'unsupported') return this.#handler.refuse(key, fault)
      this.#asking.delete(key)
      this.#streams.get(stream)?.add(key)
      this.#ask()
    })
    return true
  }
}

const KIND = 'task-ask'

/** Lets tasks that run here ask on the streams of other processes. */
export function serveQuestions(
  { channels }: SharedProcesses, find: (owner: string, id: string) => TaskAsking | undefined,
): void {
  channels.on(KIND, (question, channel) => {
    const [owner, id] = question as readonly [string, string]
    const asking = find(owner, id)
    return asking && askOver(channel, asking)
  })
}

function askOver(channel: PeerChannel, asking: TaskAsking): ChannelListener {
  const open = new Map<string, { resolve(answer: unknown): void; reject(reason: Fault): void }>()
  const stream: QuestionStream = {
    ask(key, question) {
      const answer = new Promise<unknown>((resolve, reject) => { open.set(key, { resolve, reject }) })
      channel.send(['ask', key, question])
      return {
        answer,
        withdraw() {
          open.delete(key)
          channel.send(['withdraw', key])
        },
      }
    },
    isConnected: () => true,
  }
  let isOver = false
  // The channel has its listener when this returns; answers come from then on.
  setImmediate(() => { if (!isOver) asking.attach(stream) })
  const end = (): void => {
    isOver = true
    asking.lose(stream)
  }
  return {
    onMessage(message) {
      const [act, key, value] = message as readonly ['answer' | 'refuse' | 'pass', string, unknown]
      if (act === 'answer') open.get(key)?.resolve(value)
      else open.get(key)?.reject(new Fault(act === 'pass' ? 'unsupported' : 'failed', String(value)))
      open.delete(key)
    },
    onEnd: end, onLost: end,
  }
}

/** One stream that waits for a task, in whichever process that runs by now. */
export class TaskStream implements AnswerHandler {
  readonly #facts: McpFacts
  readonly #asking: TaskAsking = new TaskAsking(this)
  readonly #stream: QuestionStream
  readonly #find: (id: string) => TaskAsking | undefined
  /** Where the task was last: the process, or its questions here. */
  #where: unknown
  /** To the process that runs it, and has its questions asked here. */
  #line: PeerChannel | undefined
  #leave: (() => void) | undefined
  #isAlone = false
  #task: Task

  constructor(
    facts: McpFacts, task: Task, stream: QuestionStream, find: (id: string) => TaskAsking | undefined,
  ) {
    this.#facts = facts
    this.#task = task
    this.#stream = stream
    this.#find = find
    this.#asking.attach(stream)
  }

  answer(key: string, answer: unknown): void {
    if (this.#line !== undefined) return this.#reply('answer', key, answer)
    bring(this.#facts, this.#task.id, (remote, task) => remote.answer(task, new Map([[key, answer]])))
  }

  refuse(key: string, { message }: Fault): void {
    if (this.#line !== undefined) return this.#reply('refuse', key, message)
    bring(this.#facts, this.#task.id, (remote, task) => remote.refuse(task, key, message))
  }

  pass(key: string): void {
    if (this.#line !== undefined) this.#reply('pass', key)
  }

  #reply(act: string, key: string, ...said: readonly unknown[]): void {
    this.#asking.drop(key)
    this.#line?.send([act, key, ...said])
  }

  update(task: Task): void {
    this.#task = task
    const here = this.#find(task.id)
    if (here !== undefined) return this.#moveTo(here, () => here.attach(this.#stream))
    const node = remoteTasksOf(this.#facts.mcp.service)?.nodeOf(task)
    if (node === undefined) return this.#askAlone()
    this.#moveTo(node, () => this.#join(node))
  }

  leave(): void {
    this.#leave?.()
    this.#asking.show([])
  }

  #moveTo(where: unknown, join: () => () => void): void {
    if (this.#where === where) {
      if (this.#isAlone) this.#askAlone()
      return
    }
    this.leave()
    this.#where = where
    this.#isAlone = false
    this.#leave = join()
  }

  /** Asks where no process runs the task. */
  #askAlone(): void {
    this.#isAlone = true
    this.#asking.show(this.#task.questions)
  }

  /** Lets the process that runs the task ask on the stream. */
  #join(node: string): () => void {
    // Their answers would reach no task; it asks on another stream.
    const leave = (): void => {
      this.#line = undefined
      this.#asking.show([], 'The question is asked on another stream')
    }
    const lost = (): void => {
      leave()
      if (this.#where === node) this.#askAlone()
    }
    const { id, owner } = this.#task
    const line = sharedOf(this.#facts.mcp.service)!.channels.open(node, KIND, [owner, id], {
      onMessage: (message) => {
        const [act, key, question] = message as readonly ['ask' | 'withdraw', string, Question]
        const others = this.#asking.questions.filter((one) => one.key !== key)
        this.#asking.show(act === 'ask' ? [...others, { key, question }] : others)
      },
      onEnd: lost, onLost: lost,
    })
    this.#line = line
    return () => {
      leave()
      line.end()
    }
  }
}
