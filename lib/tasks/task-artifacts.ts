/**
 * How artifacts get into a task: a whole one, or piece by piece, where a text goes on with the text before
 * it. All of them together are bounded. Knows nothing of who watches, and nothing of stores.
 */
import { addArtifact } from '../define/artifact.ts'
import { isPlainText } from '../define/content.ts'
import { Fault } from '../define/fault.ts'
import { bytesOfParts } from './task-size.ts'
import type { Artifact } from '../define/artifact.ts'
import type { Limits } from '../define/limits.ts'
import type { TaskRecord } from './task-record.ts'
import type { TaskTable } from './task-table.ts'

/** The artifacts of all tasks of one server. */
export class TaskArtifacts {
  readonly #limits: Limits
  readonly #places: TaskTable

  constructor(limits: Limits, places: TaskTable) {
    this.#limits = limits
    this.#places = places
  }

  /**
   * Adds an artifact, adds to one, or replaces it. Whether it goes on with one that was there. Throws
   * `Fault('too-large')`, or `Fault('busy')` where all tasks together leave no room for it, and then nothing
   * has changed.
   */
  add(place: TaskRecord, artifact: Artifact, append: boolean): boolean {
    const { task } = place
    const isMore = append && place.holds(artifact.id)
    const hasRoom = this.#places.change(
      place, { ...task, artifacts: addArtifact(task.artifacts, artifact, append) },
    )
    const isTooLarge = place.slot !== undefined && this.#isTooLarge(place.slot.bytes)
    if (hasRoom && !isTooLarge) return isMore
    this.#places.change(place, task)
    throw isTooLarge ? this.#tooLarge() : this.#places.noRoom()
  }

  /** Adds the one part of a piece to the artifact of its id, in the same way. */
  addPiece(place: TaskRecord, piece: Artifact, append: boolean): boolean {
    const isMore = append && place.holds(piece.id)
    // Only what is new is counted: a task is looked at for each piece.
    const before = place.slot?.bytes ?? 0
    const bytes = before + bytesOfParts(piece.parts)
    if (this.#isTooLarge(bytes)) throw this.#tooLarge()
    if (!this.#places.resize(place, bytes)) {
      this.#places.resize(place, before)
      throw this.#places.noRoom()
    }
    const part = piece.parts[0]
    if (isMore && part !== undefined && isPlainText(part)) {
      place.grow(piece.id, part.text)
    } else {
      const { task } = place
      place.task = { ...task, artifacts: addArtifact(task.artifacts, piece, append, true) }
    }
    return isMore
  }

  #isTooLarge(bytes: number): boolean {
    return bytes > this.#limits.maxResultBytes * 2
  }

  #tooLarge(): Fault {
    const { maxResultBytes } = this.#limits
    return new Fault('too-large', `The artifacts of the task are larger than ${maxResultBytes} bytes`)
  }
}
