/**
 * What a task holds in memory, roughly, in bytes: two for each character of text, some for each member.
 * Looked at on every change, so what most tasks have is counted without a walk.
 */
import { isPlainText } from '../define/content.ts'
import type { Content } from '../define/content.ts'
import type { Task, TaskMessage } from './task.ts'

/** A task without anything in it, its ids and times. */
const TASK_BYTES = 1_024
/** A message or an artifact without its parts. */
const HOLDER_BYTES = 256
const LIST_BYTES = 48
/** Each object whose members are named as no other's takes a shape of its own beside its values. */
const OBJECT_BYTES = 96
const MEMBER_BYTES = 64

/** The bytes of a task. */
export function bytesOf(task: Task): number {
  const { status: { message }, artifacts, history, questions, turn, result, fault } = task
  let bytes = TASK_BYTES + task.owner.length * 2
  if (message !== undefined) bytes += bytesOfMessage(message)
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

/** The bytes of one message. */
export function bytesOfMessage({ parts, metadata, referenceTaskIds, extensions }: TaskMessage): number {
  let bytes = HOLDER_BYTES + bytesOfParts(parts)
  if (metadata !== undefined) bytes += bytesOfJson(metadata)
  if (referenceTaskIds !== undefined) bytes += bytesOfJson(referenceTaskIds)
  if (extensions !== undefined) bytes += bytesOfJson(extensions)
  return bytes
}

/** The bytes of parts. */
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

/** The bytes of a JSON value. */
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
