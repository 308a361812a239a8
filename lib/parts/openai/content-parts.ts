/**
 * The parts of a message, in the form of chat completions or of Responses: clients write either on both.
 * Throws `Fault('invalid')` for a part that an agent would not see.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create and …/responses/create
 */
import { base64, isGiven, isRecord, text } from '../../kernel/define/content.ts'
import { unseen } from '../../kernel/define/validate.ts'
import { decodeBase64 } from '../../kernel/wire/base64.ts'
import { readDataUrl } from '../../floors/chat/data-url.ts'
import { nameIn, wrongMember } from '../../floors/chat/members.ts'
import { textOfPart } from '../../floors/chat/messages.ts'
import { attachmentOf } from '../../floors/conversations/message.ts'
import type { Content } from '../../kernel/define/content.ts'
import type { Fault } from '../../kernel/define/fault.ts'

type Members = Readonly<Record<string, unknown>>

const audioTypes: ReadonlyMap<unknown, string> = new Map([['wav', 'audio/wav'], ['mp3', 'audio/mpeg']])

const textTypes: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text', 'refusal'])

/** Whether a part is text, or has one. */
export function isTextPart(part: Members): boolean {
  return textTypes.has(part['type']) || textOfPart(part) !== undefined
}

/** `known`: the types that a client of this face writes, for errors. */
export function blockOfPart(
  part: unknown, at: string, known = 'text, image_url, input_audio or file',
): Content {
  const {
    type, text: written, refusal, image_url: image, input_audio: audio, file, ...more
  } = isRecord(part) ? part : {}
  const isHere = [image, more['file_data'], more['file_url']].some(isGiven)
  if (isGiven(more['file_id']) && !isHere) {
    throw wrongMember(`${at}.file_id`, 'cannot be used: no files are kept here')
  }
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text': return text(stringIn(written, `${at}.text`))
    case 'refusal': return text(stringIn(refusal, `${at}.refusal`))
    case 'image_url':
    case 'input_image':
      if (isRecord(image)) return imageOf(image['url'], `${at}.image_url.url`)
      return imageOf(image, `${at}.image_url`)
    case 'input_audio': return audioOf(membersOf(audio, `${at}.input_audio`), `${at}.input_audio`)
    case 'file': return fileOfPart(membersOf(file, `${at}.file`), `${at}.file`)
    case 'input_file': return fileOfPart(more, at)
    default: throw wrongMember(`${at}.type`, `must be ${known}${unseen(type)}`)
  }
}

function stringIn(value: unknown, at: string): string {
  if (typeof value === 'string') return value
  throw wrongMember(at, 'must be a string')
}

function imageOf(url: unknown, at: string): Content {
  const image = fileAt(stringIn(url, at), at, undefined, 'image')
  if (image.type === 'image' || image.type === 'resource_link') return image
  throw wrongMember(at, 'must be a picture, as in data:image/png;base64,…')
}

/** What an address holds, or where it is: the agent decides whether to fetch it. */
function fileAt(url: string, at: string, filename: string | undefined, usual: string): Content {
  if (/^https?:\/\//i.test(url) && URL.canParse(nameIn(url, at))) {
    const name = filename ?? (new URL(url).pathname.split('/').at(-1) || usual)
    return { type: 'resource_link', uri: url, name }
  }
  const { mimeType, data } = dataIn(url, at, 'an http or https address, or ')
  return attachmentOf(data, mimeType, filename ?? usual)
}

function audioOf({ data, format }: Members, at: string): Content {
  const mimeType = audioTypes.get(format)
  if (mimeType === undefined) throw wrongMember(`${at}.format`, 'must be wav or mp3')
  const isRead = typeof data === 'string' && data !== '' && decodeBase64(data) !== undefined
  if (!isRead) throw noBase64(`${at}.data`)
  return { type: 'audio', data, mimeType }
}

function fileOfPart({ file_data: given, file_url: url, filename }: Members, at: string): Content {
  const name = filename ? nameIn(filename, `${at}.filename`) : undefined
  if (isGiven(url)) return fileAt(stringIn(url, `${at}.file_url`), `${at}.file_url`, name, 'file')
  if (!isGiven(given)) throw wrongMember(`${at}.file_data`, 'is missing: no files are kept here')
  const bare = typeof given === 'string' && !/^data:/i.test(given) ? base64(given) : undefined
  if (bare) return attachmentOf(bare, 'application/octet-stream', name ?? 'file')
  const { mimeType, data } = dataIn(given, `${at}.file_data`, 'base64, or ')
  return attachmentOf(data, mimeType, name ?? 'file')
}

/** What a data URI holds. `instead`: what else it might have been. */
function dataIn(
  uri: unknown, at: string, instead = '',
): { readonly mimeType: string; readonly data: string } {
  const held = typeof uri === 'string' ? readDataUrl(uri) : undefined
  if (held === undefined) {
    throw wrongMember(at, `must be ${instead}a data URI with base64, as in data:image/png;base64,…`)
  }
  if (!held.data) throw noBase64(at)
  return { mimeType: held.mimeType ?? 'text/plain', data: held.data }
}

function noBase64(at: string): Fault { return wrongMember(at, 'must hold base64, standard and padded') }

function membersOf(value: unknown, at: string): Members {
  if (isRecord(value)) return value
  throw wrongMember(at, 'must be an object')
}
