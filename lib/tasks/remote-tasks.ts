/**
 * What is asked about a task at a process that does not run it: to hear of it, to cancel it, to answer its
 * questions. It is brought to the process that does; where that has died, the task is read from the store.
 */
import { addArtifact } from '../define/artifact.ts'
import { Fault } from '../define/fault.ts'
import { deliverMessage } from './question-answer.ts'
import { isTerminal, isInterrupted } from './task.ts'
import { TaskRecord } from './task-record.ts'
import type { Limits } from '../define/limits.ts'
import type { PeerChannel, ChannelListener, PeerChannels } from '../state/peer-channels.ts'
import type { ClusterMembership } from '../state/cluster.ts'
import type { Task, TaskEvent, TaskMessage, Watcher } from './task.ts'
import type { TaskRecovery } from './task-recovery.ts'
import type { Tasks } from './tasks.ts'

/** What one process asks of another. */
type TaskQuestion =
  | readonly [act: 'cancel', owner: string, id: string, nothing?: undefined]
  | readonly [act: 'answer', owner: string, id: string, answers: readonly (readonly [string, unknown])[]]
  | readonly [act: 'refuse', owner: string, id: string, refusal: readonly [key: string, why: string]]
  | readonly [act: 'tell', owner: string, id: string, message: TaskMessage]
/** What came of it. Late: by then it waited for nothing, or had the message. Gone: its run is not there. */
type TaskOutcome = 'done' | 'late' | 'gone'
/** What is said of a watched task: an event, and the task behind it where the event does not tell enough. */
type TaskWord = readonly [event: TaskEvent | null, task?: Task]

const WATCH = 'task-watch'
const ACT = 'task-act'

/** The tasks of other processes. */
export class RemoteTasks {
  readonly #tasks: Tasks
  readonly #nodes: ClusterMembership
  readonly #lines: PeerChannels
  readonly #limits: Limits
  readonly #recovery: TaskRecovery
  /** Those who follow a task, each as the way to let it go. */
  readonly #following = new Set<() => void>()

  constructor(
    tasks: Tasks, nodes: ClusterMembership, lines: PeerChannels, limits: Limits, recovery: TaskRecovery,
  ) {
    this.#recovery = recovery
    this.#tasks = tasks
    this.#nodes = nodes
    this.#lines = lines
    this.#limits = limits
    lines.on(ACT, (question, line) => {
      // Where the store does not answer, whoever asked is to try again: that it was not done is not known.
      this.#act(question as TaskQuestion).then((outcome) => line.send(outcome), () => line.end())
      return {}
    })
    lines.on(WATCH, (question, line) => this.#watched(question as readonly [string, string], line))
  }

  /** The process that runs a task, if that is another. */
  nodeOf(task: Task): string | undefined {
    const { id, node, status: { state } } = task
    const isHere = node === this.#nodes.id || this.#tasks.runOf(id) !== undefined
    return isHere || isTerminal(state) ? undefined : node
  }

  /**
   * Cancels a task where it runs; where nobody answers there, its run finds out when it says something.
   * Rejects with `Fault('busy')` where neither can be done now.
   */
  async cancel(task: Task): Promise<void> {
    const outcome = await this.#ask(task, ['cancel', task.owner, task.id]).catch(() => 'gone')
    if (outcome === 'done') return
    await this.#tasks.take(task)
    await this.#recovery.taken(task)
    if (this.#tasks.isCurrent(task)) this.#tasks.move(task.id, 'canceled', { questions: [] })
    await this.#tasks.whenPersisted(task.id)
  }

  /**
   * Answers questions of a task where it runs; where that run has ended, its answers begin it again here.
   * Those to no open question are passed over. Rejects with `Fault('busy')` where that cannot be done now.
   */
  async answer(task: Task, answers: ReadonlyMap<string, unknown>): Promise<void> {
    if (await this.#ask(task, ['answer', task.owner, task.id, [...answers]]) === 'done') return
    if (await this.#recovery.answer(task, answers)) return
    const now = await this.#tasks.get(task.owner, task.id)
    if (now === undefined || !isInterrupted(now.status.state)) return
    throw new Fault('busy', 'The process that asked has ended, and no other serves it now; try again later')
  }

  /**
   * Brings to a run that its client refuses to answer a question; where that run has ended, so has the task.
   * Rejects with `Fault('busy')` where that cannot be done now.
   */
  async refuse(task: Task, key: string, why: string): Promise<void> {
    const { owner, id } = task
    if (await this.#ask(task, ['refuse', owner, id, [key, why]]) === 'done') return
    const now = await this.#tasks.get(owner, id)
    if (now === undefined || !now.questions.some((one) => one.key === key)) return
    await this.#tasks.take(now)
    await this.#recovery.taken(now)
    if (this.#tasks.isCurrent(now)) {
      this.#tasks.move(id, 'failed', {
        message: [{ type: 'text', text: why }], questions: [], fault: { kind: 'failed', message: why },
      })
    }
    await this.#tasks.whenPersisted(id)
  }

  /**
   * Brings a message to the run that waits for it. Rejects with `Fault('busy')` where its process does not
   * answer now.
   */
  deliver(task: Task, message: TaskMessage): Promise<TaskOutcome> {
    return this.#ask(task, ['tell', task.owner, task.id, message])
  }

  /**
   * Hears of a task where it runs: `begin` is given the task as it stands, once, and again where something of
   * it was missed; then `watcher` each event. The returned function ends it.
   */
  follow(task: Task, begin: (task: Task) => void, watcher: Watcher): () => void {
    const { owner, id } = task
    const place = new TaskRecord(task, undefined, 0)
    let isOver = false
    let timer: NodeJS.Timeout | undefined
    let shownAt: string | undefined
    let wasRefused = false
    let hangUp = (): void => {}
    const stop = (): void => {
      isOver = true
      this.#following.delete(letGo)
      clearTimeout(timer)
      hangUp()
    }
    const letGo = (): void => {
      stop()
      void watcher({ what: 'forgotten' }, place)
    }
    const show = (now: Task): void => {
      place.task = now
      shownAt = now.status.at
      if (isTerminal(now.status.state)) stop()
      begin(now)
    }
    const hear = ([event, now]: TaskWord): void => {
      if (event === null) return now && show(now)
      // It has gone to another process, or is nowhere any more.
      if (event.what === 'forgotten') return again()
      if (now !== undefined) place.task = now
      else if (event.what === 'artifact') place.task = withArtifact(place.task, event)
      if (place.isTerminal) stop()
      void watcher(event, place)
    }
    const again = (): void => {
      hangUp()
      if (isOver) return
      void this.#read(owner, id).then((now) => {
        if (isOver) return
        if (now === 'unknown') return wait()
        if (now === undefined) return letGo()
        const node = this.nodeOf(now)
        if (isTerminal(now.status.state)) show(now)
        else if (node === undefined) here()
        else open(node, now)
      }).catch((error: unknown) => {
        // Whoever follows cannot be told.
        stop()
        process.emitWarning(error instanceof Error ? error : String(error))
      })
    }
    const wait = (): void => {
      hangUp()
      if (isOver) return
      wasRefused = false
      timer = setTimeout(again, this.#nodes.beatMs)
      timer.unref()
    }
    const here = (): void => {
      const watched = this.#tasks.watch(owner, id, (event, { task }) => hear([event, task]))
      if (watched === undefined) return wait()
      hangUp = watched.stop
      show(watched.task)
    }
    const open = (node: string, now: Task): void => {
      let isHeard = false
      const lost = (): void => {
        // Nobody tells of one that waits, and whose process is gone.
        if (!isHeard && isInterrupted(now.status.state) && now.status.at !== shownAt) show(now)
        wait()
      }
      const line = this.#lines.open(node, WATCH, [owner, id], {
        onMessage: (word) => {
          isHeard = true
          if (!isOver) hear(word as TaskWord)
        },
        onEnd: () => {
          if (isHeard || wasRefused) return lost()
          // It is not there any more, and has been written by now.
          wasRefused = true
          again()
        },
        onLost: lost,
      })
      hangUp = () => line.end()
    }
    this.#following.add(letGo)
    again()
    return stop
  }

  /** Nothing more is heard here: whoever follows a task is told so. */
  stopWatchers(): void {
    for (const letGo of [...this.#following]) letGo()
  }

  async #read(owner: string, id: string): Promise<Task | undefined | 'unknown'> {
    try {
      return await this.#tasks.get(owner, id)
    } catch {
      return 'unknown'
    }
  }

  async #ask({ node }: Task, question: TaskQuestion): Promise<TaskOutcome> {
    if (node === undefined || node === this.#nodes.id || this.#tasks.runOf(question[2]) !== undefined) {
      return this.#act(question)
    }
    try {
      return await this.#lines.ask(node, ACT, question, this.#limits.storeTimeoutMs) as TaskOutcome
    } catch (error) {
      if (error instanceof Fault && error.kind === 'not-found') return 'gone'
      throw error
    }
  }

  async #act([act, owner, id, said]: TaskQuestion): Promise<TaskOutcome> {
    const run = this.#tasks.runOf(id)
    const task = run === undefined ? undefined : await this.#tasks.get(owner, id)
    if (run === undefined || task === undefined) return 'gone'
    if (act === 'cancel') run.cancel()
    else if (act === 'answer') run.answer(new Map(said))
    else if (act === 'refuse') run.refuse(said[0], new Fault('failed', said[1]))
    else if (!isInterrupted(task.status.state) || !this.#tasks.isCurrent(task)
      || task.history.some((one) => one.id === said.id)) return 'late'
    else deliverMessage(this.#tasks, task, said, this.#limits.maxCheckSteps)
    await this.#tasks.whenPersisted(id)
    return 'done'
  }

  /** A task of this process, as others read it. */
  #own(task: Task): Task { return { ...task, node: this.#nodes.id } }

  #watched([owner, id]: readonly [string, string], line: PeerChannel): ChannelListener | undefined {
    let before: Promise<void> | undefined
    const watched = this.#tasks.watch(owner, id, (event, after) => {
      const word = event.what === 'artifact' ? [event] : [event, this.#own(after.task)]
      const isLast = event.what === 'forgotten' || (event.what === 'status' && isTerminal(event.status.state))
      const say = (): void => {
        line.send(word)
        if (isLast) line.end()
      }
      // Whoever hears that a task waits or has ended may read it at any process next.
      const isRead = isLast || (event.what === 'status' && isInterrupted(event.status.state))
      const kept = isRead ? this.#tasks.whenPersisted(id) : undefined
      if (kept === undefined && before === undefined) return say()
      const said = Promise.all([before, kept]).then(() => {
        if (before === said) before = undefined
        say()
      })
      before = said
      return said
    })
    if (watched === undefined) {
      // Whoever asked reads next how it has ended.
      const kept = this.#tasks.whenPersisted(id)
      if (kept === undefined) return undefined
      void kept.then(() => line.end())
      return {}
    }
    line.send([null, this.#own(watched.task)])
    return { onEnd: watched.stop, onLost: watched.stop }
  }
}

function withArtifact(task: Task, { artifact, append }: Extract<TaskEvent, { what: 'artifact' }>): Task {
  return { ...task, artifacts: addArtifact(task.artifacts, artifact, append, append) }
}
