/** What an agent gets of a call: the present message with its files, and those before it. */
import { formatJson } from '../../kernel/wire/json.ts'
import { mainTypeOf } from '../../kernel/wire/media.ts'
import { percentDecoded } from '../../kernel/wire/uri.ts'
import type { Call, ChatMessage } from '../../kernel/define/call.ts'
import type { Content, ContentInput } from '../../kernel/define/content.ts'

/** A file of the present message, its bytes as base64. */
export interface AttachedFile {
  readonly data: string
  readonly mediaType: string
  readonly name: string | undefined
}

/**
 * The present message. Its data and the texts of its resources stand behind the prompt, and so do addresses:
 * nothing that a client names is fetched.
 */
interface PresentMessage { readonly text: string; readonly files: readonly AttachedFile[] }

export function presentMessage(prompt: string, { message }: Call): PresentMessage {
  // Mostly a text and nothing else.
  if (message.every(({ type }) => type === 'text')) return { text: prompt, files: [] }
  const texts = [prompt, ...message.map(textIn)].filter((one) => one !== '')
  return { text: texts.join('\n\n'), files: message.flatMap((block) => fileIn(block) ?? []) }
}

/**
 * The messages before the present one. Where the author has given the agent instructions, what a caller sends
 * as the system's counts as a user's.
 */
export function earlierMessages({ history }: Call, hasInstructions: boolean): readonly ChatMessage[] {
  if (!hasInstructions) return history
  return history.map((one) => one.role === 'system' ? { ...one, role: 'user' } : one)
}

/**
 * All messages, the present one last: a text, or with files a list of parts, each file by `partOf`. A client
 * that has the agent begin has said nothing, and models refuse a message without a word: it stands only where
 * there is no other.
 */
export function withPresent(
  earlier: readonly object[], prompt: string, call: Call, partOf: (file: AttachedFile) => object,
  textType = 'text',
): readonly object[] {
  const { text, files } = presentMessage(prompt, call)
  if (text === '' && files.length === 0 && earlier.length > 0) return earlier
  const content = files.length === 0 ? text : [{ type: textType, text }, ...files.map(partOf)]
  return [...earlier, { role: 'user', content }]
}

function textIn(block: Content): string {
  if (block.type === 'data') return formatJson(block.data) ?? 'null'
  if (block.type === 'resource_link') return `${block.name}: ${block.uri}`
  return block.type === 'resource' ? block.resource.text ?? '' : ''
}

function fileIn(block: Content): AttachedFile | undefined {
  if (block.type === 'image' || block.type === 'audio') {
    return { data: block.data, mediaType: block.mimeType, name: undefined }
  }
  if (block.type !== 'resource' || block.resource.blob === undefined) return undefined
  const { blob, uri, mimeType = 'application/octet-stream' } = block.resource
  return { data: blob, mediaType: mimeType, name: nameIn(uri) }
}

/** The present message behind those before it, as one text: for agents that take nothing else. */
export function asOneText(prompt: string, call: Call): string {
  const { text } = presentMessage(prompt, call)
  if (call.history.length === 0) return text
  const earlier = call.history.map(({ role, content }) => `${role}: ${content}`)
  const present = text === '' ? [] : ['', 'The present message:', text]
  return ['The conversation so far:', ...earlier, ...present].join('\n')
}

/** A file that an agent gives, as a block of its answer. */
export function fileBlock(
  { data, mediaType, name }: Omit<AttachedFile, 'name'> & { readonly name?: string | undefined },
): ContentInput {
  if (mainTypeOf(mediaType) === 'image') return { type: 'image', data, mimeType: mediaType }
  if (mainTypeOf(mediaType) === 'audio') return { type: 'audio', data, mimeType: mediaType }
  const uri = `file:///${encodeURIComponent(name ?? 'file')}`
  return { type: 'resource', resource: { uri, mimeType: mediaType, blob: data } }
}

/** The last part of an address, as in `attachment:my%20report.pdf`. */
function nameIn(uri: string): string | undefined {
  const last = /(?<![^/:])[^/:]+$/.exec(uri.replace(/[?#].*$/s, ''))?.[0]
  return last && (percentDecoded(last) ?? last)
}
