/**
 * What is asked about a task at a process that does not run it: to follow it, to cancel it, to answer its
 * questions. It is sent to the process that does; where that has died, the task is read from the store.
 */
import { addArtifact } from '../../kernel/define/artifact.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { warn } from '../../kernel/util/thenable.ts'
import { deliverMessage } from './question-answer.ts'
import { isInterrupted, isRepeated, isTerminal } from './task.ts'
import { TaskRecord } from './task-record.ts'
import { failedWith } from './task-recovery.ts'
import type { ChannelListener, PeerChannel, PeerChannels } from '../shared/peer-channels.ts'
import type { Task, TaskEvent, TaskMessage, Watcher } from './task.ts'
import type { TaskRecovery, TaskSurroundings } from './task-recovery.ts'

type TaskRequest =
  | readonly [act: 'cancel', owner: string, id: string, nothing?: undefined]
  | readonly [act: 'answer', owner: string, id: string, answers: readonly (readonly [string, unknown])[]]
  | readonly [act: 'refuse', owner: string, id: string, refusal: readonly [key: string, why: string]]
  | readonly [act: 'tell', owner: string, id: string, message: TaskMessage]
/** Late: the task did not wait any more, or had the message. Gone: its run is not there. */
type TaskOutcome = 'done' | 'late' | 'gone'
/** An event of a followed task, and the task after it where the event does not say enough. */
type RemoteEvent = readonly [event: TaskEvent | null, task?: Task]

/** How often a task is tried again that other processes change at the same time. */
const MAX_TRIES = 5

const WATCH = 'task-watch'
const ACT = 'task-act'

export class RemoteTasks {
  readonly #at: TaskSurroundings
  readonly #channels: PeerChannels
  readonly #recovery: TaskRecovery
  readonly #followed = new Set<FollowedTask>()

  constructor(at: TaskSurroundings, channels: PeerChannels, recovery: TaskRecovery) {
    this.#at = at
    this.#channels = channels
    this.#recovery = recovery
    channels.on(ACT, (question, channel) => {
      // An end without an outcome: the store does not answer, and the other process is to try again.
      this.#act(question as TaskRequest).then((outcome) => channel.send(outcome), () => channel.end())
      return {}
    })
    channels.on(WATCH, (question, channel) => (
      this.#serveWatch(question as readonly [string, string], channel)
    ))
  }

  /** The process that has a task, if that is another. */
  nodeOf(task: Task): string | undefined {
    const { id, node, status: { state } } = task
    // One that was taken here still names the process that had it before.
    const isHere = node === this.#at.cluster.id || this.#at.stored.has(id)
    return isHere || isTerminal(state) ? undefined : node
  }

  /**
   * Cancels a task where it runs; where that process does not answer, its run ends with its next write.
   * Rejects with `Fault('busy')` where neither can be done now.
   */
  cancel(task: Task): Promise<void> {
    return this.#settle(task, async (now) => (
      isTerminal(now.status.state)
        || await this.#ask(now, ['cancel', now.owner, now.id]).catch(() => 'gone') === 'done'
        || this.#recovery.end(now, 'canceled')
    ))
  }

  /**
   * Answers questions of a task where it runs; where that run has ended, the answers begin it again here.
   * Those to no open question are ignored. Rejects with `Fault('busy')` where that cannot be done now.
   */
  answer(task: Task, answers: ReadonlyMap<string, unknown>): Promise<void> {
    return this.#settle(task, async (now) => (
      !now.questions.some(({ key }) => answers.has(key))
        || await this.#ask(now, ['answer', now.owner, now.id, [...answers]]) === 'done'
        || this.#recovery.answer(now, answers)
    ))
  }

  /**
   * Tries with the task as it was read, and again while another process has changed it meanwhile. Rejects
   * with `Fault('busy')` where nothing helps.
   */
  async #settle(read: Task, attempt: (task: Task) => Promise<boolean>): Promise<void> {
    const { tasks, stored } = this.#at
    let task = read
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await attempt(task)) return
      const now = await tasks.get(task.owner, task.id)
      if (now === undefined) return
      const version = stored.versionOf(now)
      if (now === task || (version !== undefined && version === stored.versionOf(task))) break
      task = now
    }
    const why = 'The process that had the task has ended, and no other serves it now'
    throw new Fault('busy', `${why}; try again later`)
  }

  /**
   * Refuses to answer a question of a task; where its run has ended, the task fails. Rejects with
   * `Fault('busy')` where that cannot be done now.
   */
  async refuse(task: Task, key: string, why: string): Promise<void> {
    const { owner, id } = task
    if (await this.#ask(task, ['refuse', owner, id, [key, why]]) === 'done') return
    const now = await this.#at.tasks.get(owner, id)
    if (now === undefined || !now.questions.some((one) => one.key === key)) return
    await this.#recovery.end(now, 'failed', failedWith('failed', why))
  }

  /** Sends a message to the run that waits for it. Rejects with `Fault('busy')` where that cannot be done. */
  deliver(task: Task, message: TaskMessage): Promise<TaskOutcome> {
    return this.#ask(task, ['tell', task.owner, task.id, message])
  }

  /**
   * Follows a task wherever it runs: `begin` gets the task as it stands, once, and again where events were
   * missed; `watcher` gets each event after it. The returned function ends it.
   */
  follow(task: Task, begin: (task: Task) => void, watcher: Watcher): () => void {
    const { tasks, cluster } = this.#at
    const followed = followRemote(
      { tasks, cluster, channels: this.#channels, nodeOf: this.nodeOf.bind(this) },
      task, begin, watcher, () => this.#followed.delete(followed),
    )
    this.#followed.add(followed)
    return followed.close
  }

  /** Notifies all who follow a task that no more events come from here. */
  stopWatchers(): void {
    for (const followed of [...this.#followed]) followed.forget()
  }

  async #ask(task: Task, request: TaskRequest): Promise<TaskOutcome> {
    const node = this.nodeOf(task)
    if (node === undefined) return this.#act(request)
    try {
      return await this.#channels.ask(node, ACT, request, this.#at.limits.storeTimeoutMs) as TaskOutcome
    } catch (error) {
      if (error instanceof Fault && error.kind === 'not-found') return 'gone'
      throw error
    }
  }

  async #act([act, owner, id, given]: TaskRequest): Promise<TaskOutcome> {
    const run = this.#at.tasks.runOf(id)
    const task = run === undefined ? undefined : await this.#at.tasks.get(owner, id)
    if (run === undefined || task === undefined) return 'gone'
    if (act === 'cancel') run.cancel()
    else if (act === 'answer') run.answer(new Map(given))
    else if (act === 'refuse') run.refuse(given[0], new Fault('failed', given[1]))
    else if (!isInterrupted(task.status.state) || !this.#at.tasks.isCurrent(task)
      || isRepeated(task, given)) return 'late'
    else deliverMessage(this.#at.tasks, task, given, this.#at.limits.maxCheckSteps)
    await this.#at.tasks.whenPersisted(id)
    return 'done'
  }

  /** A task of this process, as others read it. */
  #own(task: Task): Task { return { ...task, node: this.#at.cluster.id } }

  /** Sends the events of a task of this process to another that follows it. */
  #serveWatch(
    [owner, id]: readonly [string, string], channel: PeerChannel,
  ): ChannelListener | undefined {
    let before: Promise<void> | undefined
    const watched = this.#at.tasks.watch(owner, id, (event, after) => {
      const sent = event.what === 'artifact' ? [event] : [event, this.#own(after.task)]
      const isLast = event.what === 'forgotten' || (event.what === 'status' && isTerminal(event.status.state))
      const send = (): void => {
        channel.send(sent)
        if (isLast) channel.end()
      }
      // A client that sees that a task waits or has ended may read it at any process next.
      const isRead = isLast || (event.what === 'status' && isInterrupted(event.status.state))
      const persisted = isRead ? this.#at.tasks.whenPersisted(id) : undefined
      if (persisted === undefined && before === undefined) return send()
      const done = Promise.all([before, persisted]).then(() => {
        if (before === done) before = undefined
        send()
      })
      before = done
      return done
    })
    if (watched === undefined) {
      // The other process reads next how it has ended.
      const persisted = this.#at.tasks.whenPersisted(id)
      if (persisted === undefined) return undefined
      void persisted.then(() => channel.end())
      return {}
    }
    channel.send([null, this.#own(watched.task)])
    return { onEnd: watched.stop, onLost: watched.stop }
  }
}

interface Surroundings extends Pick<TaskSurroundings, 'tasks' | 'cluster'> {
  readonly channels: PeerChannels
  readonly nodeOf: (task: Task) => string | undefined
}

interface FollowedTask {
  close(): void
  /** Closes, and notifies the watcher that no more events come from here. */
  forget(): void
}

/** Watches a task here or at another process, or looks for it until that is possible. */
function followRemote(
  { tasks, cluster, channels, nodeOf }: Surroundings,
  task: Task, begin: (task: Task) => void, watcher: Watcher, onClose: () => void,
): FollowedTask {
  const { owner, id } = task
  const record = new TaskRecord(task)
  /** It has ended, or is not followed any more. */
  let isClosed = false
  /** Ends the watching, or the waiting. */
  let leave: () => void = nothing
  /** The time of the status that `begin` got last. */
  let shownAt: string | undefined
  /** The process that should run it did not know it, and it was read again. */
  let wasRefused = false
  void read()
  return { close, forget }

  /** Finds out where the task is, and follows it there. Never rejects. */
  async function read(): Promise<void> {
    if (isClosed) return
    enter(nothing)
    try {
      let task: Task | undefined
      try {
        task = await tasks.get(owner, id)
      } catch {
        return wait()
      }
      if (isClosed) return
      if (task === undefined) return forget()
      const node = nodeOf(task)
      if (isTerminal(task.status.state)) show(task)
      else if (node === undefined) watchHere()
      else watchAt(node, task)
    } catch (error) {
      // The code that follows has thrown, and has no other way to learn of it.
      close()
      warn(error)
    }
  }

  function close(): void {
    isClosed = true
    leave()
    onClose()
  }

  function forget(): void {
    close()
    void watcher({ what: 'forgotten' }, record)
  }

  /** Leaves the watching or waiting before. */
  function enter(next: () => void): void {
    leave()
    leave = next
  }

  function wait(): void {
    if (isClosed) return
    wasRefused = false
    const timer = setTimeout(() => void read(), cluster.beatMs)
    timer.unref()
    enter(() => clearTimeout(timer))
  }

  function watchHere(): void {
    const watched = tasks.watch(owner, id, (event, { task }) => take([event, task]))
    if (watched === undefined) return wait()
    enter(watched.stop)
    show(watched.task)
  }

  function watchAt(node: string, task: Task): void {
    let hasBegun = false
    const lost = (): void => {
      // A task that waits sends no events, and its process is gone: its status is still to be shown.
      const { state, at } = task.status
      if (!hasBegun && isInterrupted(state) && at !== shownAt) show(task)
      wait()
    }
    const channel = channels.open(node, WATCH, [owner, id], {
      onMessage: (message) => {
        hasBegun = true
        if (!isClosed) take(message as RemoteEvent)
      },
      onEnd: () => {
        if (hasBegun || wasRefused) return lost()
        // It is not there any more, and its end has been written.
        wasRefused = true
        void read()
      },
      onLost: lost,
    })
    enter(() => channel.end())
  }

  function show(task: Task): void {
    record.task = task
    shownAt = task.status.at
    if (isTerminal(task.status.state)) close()
    begin(task)
  }

  function take([event, task]: RemoteEvent): void {
    if (event === null) return task && show(task)
    // It has gone to another process, or is nowhere any more.
    if (event.what === 'forgotten') return void read()
    if (task !== undefined) record.task = task
    else if (event.what === 'artifact') record.task = withArtifact(record.task, event)
    if (record.isTerminal) close()
    void watcher(event, record)
  }
}

function withArtifact(task: Task, { artifact, append }: Extract<TaskEvent, { what: 'artifact' }>): Task {
  return { ...task, artifacts: addArtifact(task.artifacts, artifact, append, append) }
}

function nothing(): void {}
