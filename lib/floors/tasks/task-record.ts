/**
 * One task of this process: as it stands, who watches it, what runs it, and how much memory it takes.
 *
 * A task is a snapshot, and a text that comes in pieces would need a new one for each piece, which mostly
 * nobody reads. So the text is collected aside, and joined to the task when that is read.
 */
import { addArtifact } from '../../kernel/define/artifact.ts'
import { isPlainText, text } from '../../kernel/define/content.ts'
import { isTerminal } from './task.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { Slotted } from '../bounds/slots.ts'
import type { RunningTask, Task, TaskEvent, TaskMessage, TaskStatus, Watcher } from './task.ts'

const none: readonly never[] = Object.freeze([])

/** What there is of a task only until it has ended. */
class Progress {
  /** Never changed in place. */
  watchers: readonly Watcher[] = none
  run: RunningTask | undefined = undefined
  show: (() => void) | undefined = undefined
  /** The artifact that was added to last, and the part of its text that is collected aside. */
  growingId: string | undefined = undefined
  aside = ''
}

/** What there is of a task only where processes share a store. */
class Writes {
  /** Its version in the store. */
  version = 0
  /** The write that began last, and the one that waits for it. */
  now: Promise<void> | undefined = undefined
  waiting: Promise<void> | undefined = undefined
  /** When the last one began, in monotonic milliseconds. */
  begunAt: number = -Infinity

  get last(): Promise<void> | undefined { return this.waiting ?? this.now }
}

/** A task, here. Its members are written by the task table and the store of the tasks. */
export class TaskRecord implements Slotted {
  slot = 0
  #task: Task
  #progress: Progress | undefined = undefined
  #writes: Writes | undefined = undefined

  constructor(task: Task, run?: RunningTask) {
    this.#task = task
    if (run !== undefined) this.run = run
  }

  get writes(): Writes { return this.#writes ??= new Writes() }

  get watchers(): readonly Watcher[] { return this.#progress?.watchers ?? none }

  get run(): RunningTask | undefined { return this.#progress?.run }
  set run(run: RunningTask | undefined) { (this.#progress ??= new Progress()).run = run }

  /** Begins a task that nobody has looked for yet; undefined once somebody has. */
  get show(): (() => void) | undefined { return this.#progress?.show }
  set show(show: (() => void) | undefined) { (this.#progress ??= new Progress()).show = show }

  /** As it stands; what was collected aside is joined to it. */
  get task(): Task {
    const [task, progress] = [this.#task, this.#progress]
    if (progress?.growingId === undefined || progress.aside === '') return task
    const artifact = { id: progress.growingId, parts: [text(progress.aside)] }
    progress.aside = ''
    return this.#task = { ...task, artifacts: addArtifact(task.artifacts, artifact, true, true) }
  }

  set task(task: Task) {
    this.#task = task
    const progress = this.#progress
    if (progress === undefined) return
    progress.growingId = undefined
    progress.aside = ''
  }

  get isHere(): boolean { return this.slot !== 0 }

  // What no text changes, so that reading it joins nothing.
  get id(): string { return this.#task.id }
  get owner(): string { return this.#task.owner }
  get status(): TaskStatus { return this.#task.status }
  get isTerminal(): boolean { return isTerminal(this.#task.status.state) }

  hasArtifact(id: string): boolean {
    return this.#progress?.growingId === id || this.#task.artifacts.some((one) => one.id === id)
  }

  appendText(artifactId: string, more: string): void {
    const progress = this.#progress ??= new Progress()
    if (progress.growingId !== artifactId) {
      void this.task
      progress.growingId = artifactId
    }
    progress.aside += more
  }

  /** Returns what ends the watching. */
  watch(watcher: Watcher): () => void {
    const progress = this.#progress ??= new Progress()
    progress.watchers = [...progress.watchers, watcher]
    return () => { progress.watchers = progress.watchers.filter((one) => one !== watcher) }
  }

  /** Notifies all watchers. A promise where each of them is behind: until the first has caught up. */
  notify(event: TaskEvent): Promise<void> | undefined {
    const { watchers } = this
    if (watchers.length === 0) return undefined
    if (watchers.length === 1) return watchers[0]!(event, this) ?? undefined
    const behind: Promise<void>[] = []
    for (const watcher of watchers) {
      const pace = watcher(event, this)
      if (pace !== undefined) behind.push(pace)
    }
    return behind.length === watchers.length ? Promise.race(behind) : undefined
  }

  /** Notifies them of how the task has ended, or that no more events come from here, and of nothing more. */
  notifyLast(event: TaskEvent): void {
    void this.notify(event)
    if (this.isTerminal) this.#progress = undefined
    else if (this.#progress !== undefined) this.#progress.watchers = none
  }
}

/** A task without anything in it, its ids and times. */
export const TASK_BYTES = 1_024
/** A message or an artifact without its parts. */
const HOLDER_BYTES = 256
const LIST_BYTES = 48
/** An object whose member names are unique has a shape of its own in the engine, beside its values. */
const OBJECT_BYTES = 96
const MEMBER_BYTES = 64

/**
 * Roughly what a task takes in memory, in bytes: two for each character of text, some for each member. It is
 * estimated on every change, so what most tasks have is counted without a walk.
 */
export function bytesOf(task: Task): number {
  const { status: { message, metadata: said }, artifacts, history, questions, turn, result, fault } = task
  let bytes = TASK_BYTES + task.owner.length * 2
  if (message !== undefined) bytes += bytesOfMessage(message)
  if (said !== undefined) bytes += bytesOfJson(said)
  for (const { parts, name, description, metadata, extensions } of artifacts) {
    bytes += HOLDER_BYTES + bytesOfParts(parts) + bytesOfText(name) + bytesOfText(description)
    if (metadata !== undefined) bytes += bytesOfJson(metadata)
    if (extensions !== undefined) bytes += bytesOfJson(extensions)
  }
  for (const one of history) bytes += bytesOfMessage(one)
  if (questions.length > 0) bytes += bytesOfJson(questions)
  if (turn !== undefined) bytes += bytesOfJson(turn)
  if (result !== undefined) bytes += bytesOfJson(result)
  if (fault !== undefined) bytes += bytesOfJson(fault)
  return bytes
}

export function bytesOfMessage({ parts, metadata, referenceTaskIds, extensions }: TaskMessage): number {
  let bytes = HOLDER_BYTES + bytesOfParts(parts)
  if (metadata !== undefined) bytes += bytesOfJson(metadata)
  if (referenceTaskIds !== undefined) bytes += bytesOfJson(referenceTaskIds)
  if (extensions !== undefined) bytes += bytesOfJson(extensions)
  return bytes
}

export function bytesOfParts(parts: readonly Content[]): number {
  let bytes = 0
  for (const part of parts) {
    bytes += isPlainText(part) ? 96 + part.text.length * 2 : bytesOfJson(part)
  }
  return bytes
}

function bytesOfText(text: string | undefined): number {
  return text === undefined ? 0 : 24 + text.length * 2
}

function bytesOfJson(value: unknown): number {
  if (typeof value === 'string') return bytesOfText(value)
  if (typeof value !== 'object' || value === null) return 8
  if (Array.isArray(value)) {
    let bytes = LIST_BYTES
    for (const item of value) bytes += 8 + bytesOfJson(item)
    return bytes
  }
  let bytes = OBJECT_BYTES
  for (const name in value) bytes += MEMBER_BYTES + bytesOfJson(Reflect.get(value, name))
  return bytes
}
