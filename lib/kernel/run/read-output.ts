/** What a resource, a prompt and a completer return, in its normal form. */
import { isUint8Array } from 'node:util/types'
import { base64, BYTES, contentOf, isRecord, isTyped, text } from '../define/content.ts'
import { show } from '../define/validate.ts'
import { isStrings } from '../wire/json.ts'
import type { Completion } from '../define/completion.ts'
import type { ResourceContents } from '../define/content.ts'
import type { PromptMessage, PromptResult } from '../define/prompt.ts'
import type { ResourceDefinition } from '../define/resource.ts'

/** What the contents have of their definition, unless they have it themselves. */
type Usual = Pick<ResourceDefinition, 'mimeType' | '_meta'>

/**
 * The normal form of what `read` returned for `uri`. Throws `TypeError` for what is no text, no bytes and no
 * contents.
 */
export function contentsOf(output: unknown, uri: string, usual: Usual): readonly ResourceContents[] {
  if (Array.isArray(output)) return output.map((item) => contentsPiece(item, uri, usual))
  if (typeof output === 'string') return [contentsPiece({ text: output }, uri, usual)]
  if (isUint8Array(output)) return [contentsPiece({ blob: output }, uri, usual)]
  return [contentsPiece(output, uri, usual)]
}

function contentsPiece(input: unknown, uri: string, usual: Usual): ResourceContents {
  const { text, blob, _meta, ...own } = isRecord(input) ? input : {}
  const hasText = typeof text === 'string' && blob === undefined
  const hasBlob = (typeof blob === 'string' || isUint8Array(blob)) && text === undefined
  const bytes = hasBlob ? base64(blob) : undefined
  if (!hasText && !hasBlob) {
    throw new TypeError(`The resource '${uri}' was read as ${show(input)}; return a string, a Uint8Array, `
      + `or contents with either text or blob`)
  }
  if (hasBlob && bytes === undefined) {
    throw new TypeError(`The resource '${uri}' was read as a blob that is no base64; return ${BYTES}`)
  }
  const type = typeof own['mimeType'] === 'string' ? own['mimeType'] : usual.mimeType
  const meta = isRecord(_meta) ? _meta : usual._meta
  return {
    uri: typeof own['uri'] === 'string' ? own['uri'] : uri,
    ...type !== undefined && { mimeType: type },
    ...hasText ? { text } : bytes !== undefined && { blob: bytes },
    ...meta !== undefined && { _meta: meta },
  }
}

/** The normal form of what `get` returned. Throws `TypeError` for what is no text and no messages. */
export function promptResultOf(output: unknown): PromptResult {
  if (typeof output === 'string') return { messages: [{ role: 'user', content: text(output) }] }
  if (Array.isArray(output)) return { messages: output.map(messageOf) }
  if (!isRecord(output) || !Array.isArray(output['messages'])) {
    throw new TypeError(`A prompt returned ${show(output)}; return a string, a list of { role, content }, `
      + `or { description, messages }`)
  }
  const { description, messages } = output
  return { ...typeof description === 'string' && { description }, messages: messages.map(messageOf) }
}

function messageOf(input: unknown): PromptMessage {
  const { role, content } = isRecord(input) ? input : {}
  if (role !== 'user' && role !== 'assistant') {
    throw new TypeError(`A message of a prompt has the role ${show(role)}; write 'user' or 'assistant'`)
  }
  if (typeof content === 'string') return { role, content: text(content) }
  if (isTyped(content)) return { role, content: contentOf(content) }
  throw new TypeError(`A message of a prompt has the content ${show(content)}; `
    + `write a string or one content block`)
}

/** What one answer may hold, by the specification. */
const MAX_VALUES = 100

/**
 * The normal form of what a completer returned. Of more than 100 values the first 100 are kept, and
 * `hasMore` says so. Throws `TypeError` for what is no list of strings.
 */
export function completionOf(output: unknown): Completion {
  if (Array.isArray(output)) return completionOf({ values: output, total: output.length, hasMore: false })
  if (!isRecord(output) || !isStrings(output['values'])) {
    throw new TypeError(`A completer returned ${show(output)}; return a list of strings, `
      + `or { values, total, hasMore }`)
  }
  const { values, total, hasMore } = output
  const isCut = values.length > MAX_VALUES
  return {
    values: isCut ? values.slice(0, MAX_VALUES) : values,
    ...Number.isSafeInteger(total) ? { total: Number(total) } : isCut && { total: values.length },
    ...isCut ? { hasMore: true } : typeof hasMore === 'boolean' && { hasMore },
  }
}
