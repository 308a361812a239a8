/**
 * The plain dialect: `message/send` alone, answered by a message; no tasks, no streams, no `kind`. It has two
 * kinds of part, known by their members, so a value is its JSON text and bytes are a `data:` address. The
 * name of a file or a text is in `name`, which a plain client may ignore.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { unseen } from '../../../kernel/define/validate.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import {
  FieldFault, isUnset, needList, needObject, needText, readMembers, readName, wrongField,
} from '../model/fields.ts'
import { formattersOf } from './encoder.ts'
import { blockFor, inlineOf, nameOf, readBytes, strangeIn } from './parts.ts'
import { v03, v03Wire } from './v03.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { Dialect } from '../model/dialect.ts'
import type { JsonMembers, SendRequest, SendResult } from '../model/model.ts'
import type { WirePart } from './parts.ts'

/** The media type of a file that has none. RFC 9110 §8.3. */
const ANY_BYTES = 'application/octet-stream'

const contents: ReadonlySet<unknown> = new Set(['text', 'uri'])

const formatters = formattersOf({
  ...v03Wire,
  opens: { task: '{', message: '{', status: '{', artifact: '{' },
  wrap: (what, object) => `{"${what}":${object}}`,
  text: '{"type":"text","text":',
  writePart,
})

/** In all that is no message it is 0.3. */
export const plain: Dialect = {
  ...v03,
  name: 'plain',
  operations: { send: { method: 'message/send', decodeRequest, formatResult } },
  hasTasks: false,
}

/** Whether neither the message nor any of its parts has the `kind` that marks A2A 0.2 and 0.3. */
export function isPlainParams(params: unknown): boolean {
  if (!isRecord(params) || !isRecord(params.message)) return true
  const { kind, parts } = params.message
  if (!isUnset(kind)) return false
  return !Array.isArray(parts) || !parts.some((part) => isRecord(part) && !isUnset(part.kind))
}

function formatResult(result: SendResult): string {
  if (result.what === 'message') return formatters.send(result)
  throw new Fault('unsupported', 'The plain dialect has no tasks; answer with a message')
}

function decodeRequest(value: unknown, maxNameBytes: number): SendRequest {
  const params = needObject(value, 'params')
  const { message } = params
  if (!isRecord(message)) throw wrongField('params', 'message', 'must be an object with "role" and "parts"')
  const at = 'params.message'
  if (message.role !== 'user') throw wrongField(at, 'role', 'must be "user"')
  return {
    tenant: undefined, outputModes: undefined, historyLength: undefined, isBlocking: true, push: undefined,
    message: {
      // No operation of this dialect needs the id of a message.
      id: readName(message.messageId, at, 'messageId', maxNameBytes) ?? '',
      role: 'user',
      parts: needList(message.parts, at, 'parts', readPart),
      contextId: readName(message.contextId, at, 'contextId', maxNameBytes),
      taskId: undefined,
      metadata: readMembers(message.metadata, at, 'metadata'),
      extensions: undefined, referenceTaskIds: undefined,
    },
    metadata: readMembers(params.metadata, 'params', 'metadata'),
  }
}

function readPart(part: unknown, at: string): Content {
  const kind = isRecord(part) ? kindOf(part) : undefined
  if (!isRecord(part) || kind === undefined) {
    const known = '{ "type": "text", "text" } or { "type": "file", "uri", "mimeType" }'
    throw new FieldFault(at, `must be ${known}${unseen(isRecord(part) ? strangeIn(part, contents) : part)}`)
  }
  const name = readName(part.name, at, 'name')
  if (kind === 'text') {
    const labels = { name, mediaType: undefined, metadata: undefined }
    return blockFor({ kind, value: needText(part.text, at, 'text') }, labels)
  }
  const { uri, mimeType } = part
  if (typeof uri !== 'string' || uri === '') throw wrongField(at, 'uri', 'must be a non-empty string')
  const mediaType = readName(mimeType, at, 'mimeType')
  const held = inlineOf(uri)
  if (held !== undefined) readBytes(held.data, at, 'uri')
  return blockFor({ kind: 'uri', value: uri }, { name, mediaType, metadata: undefined })
}

/** The `type` of a part; without one, which of the two members it has. */
function kindOf({ type, text, uri }: JsonMembers): 'text' | 'file' | undefined {
  if (!isUnset(type)) return type === 'text' || type === 'file' ? type : undefined
  if (isUnset(text) === isUnset(uri)) return undefined
  return isUnset(text) ? 'file' : 'text'
}

function writePart({ kind, value, name, mediaType }: WirePart): JsonMembers {
  const mimeType = mediaType ?? (kind === 'document' ? 'text/plain' : ANY_BYTES)
  switch (kind) {
    case 'text': return { type: 'text', text: value, name }
    case 'data': return { type: 'text', text: formatJson(value), name }
    case 'uri': {
      // A name that is the end of the address is left out.
      const isKnown = name === nameOf(value)
      return { type: 'file', uri: value, mimeType, name: isKnown ? undefined : name }
    }
    case 'bytes': return { type: 'file', uri: `data:${mimeType};base64,${value}`, mimeType, name }
    case 'document': {
      const bytes = Buffer.from(value).toString('base64')
      return { type: 'file', uri: `data:${mimeType};charset=utf-8;base64,${bytes}`, mimeType, name }
    }
  }
}
