/**
 * Results that are made of texts alone, as most are: written as JSON text at once, in a third of the time of
 * an object that `JSON.stringify` reads.
 */
import { quote } from '../../wire/json.ts'
import type { Artifact } from '../../define/artifact.ts'
import type { Content } from '../../define/content.ts'
import type { TaskMessage, TaskStatus } from '../../tasks/task.ts'
import type { StreamEvent } from '../model/model.ts'

/** Whether a result has nothing but texts. */
export function isOfTexts(result: StreamEvent): boolean {
  switch (result.what) {
    case 'message': return isText(result.message)
    case 'artifact': return isTextArtifact(result.artifact)
    case 'status': return isTextStatus(result.status)
    default: {
      const { contextId, status, artifacts, history, metadata } = result.task
      return contextId !== '' && metadata === undefined && isTextStatus(status)
        && (artifacts === undefined || artifacts.every(isTextArtifact))
        && (history === undefined || history.every(isText))
    }
  }
}

function isTextStatus({ at, message, metadata }: TaskStatus): boolean {
  return at !== '' && metadata === undefined && (message === undefined || isText(message))
}

function isText({ parts, metadata, extensions, referenceTaskIds }: TaskMessage): boolean {
  return metadata === undefined && extensions === undefined && referenceTaskIds === undefined
    && parts.length > 0 && parts.every(isTextPart)
}

function isTextArtifact({ parts, name, description, metadata, extensions }: Artifact): boolean {
  return name === undefined && description === undefined && metadata === undefined
    && extensions === undefined && parts.length > 0 && parts.every(isTextPart)
}

function isTextPart(part: Content): boolean {
  return part.type === 'text' && part._meta === undefined
}

/** A list as JSON text. `format` writes an item. */
export function formatList<T>(items: readonly T[], format: (item: T) => string): string {
  if (items.length === 1) return `[${format(items[0]!)}]`
  return `[${items.map(format).join()}]`
}

/** Parts that are texts. `open` is how such a part begins, up to its text. */
export function formatTexts(parts: readonly Content[], open: string): string {
  let all = ''
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]!
    all += `${at === 0 ? '' : ','}${open}${quote(part.type === 'text' ? part.text : '')}}`
  }
  return `[${all}]`
}
