/**
 * What a message has beside its words, as parts that models are shown: pictures, sounds, PDF files, texts.
 * What none can be shown is named, so that the model can say that it is missing.
 * Spec: https://platform.openai.com/docs/api-reference/chat/create
 */
import { formatJson } from '../../kernel/wire/json.ts'
import { mainTypeOf } from '../../kernel/wire/media.ts'
import type { Content } from '../../kernel/define/content.ts'

const PICTURE = /\.(?:png|jpe?g|gif|webp)$/i
const TEXT = /^(?:text\/|application\/(?:json|xml|yaml|toml)\b)/i
const sounds: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'], ['audio/x-wav', 'wav'], ['audio/mpeg', 'mp3'], ['audio/mp3', 'mp3'],
])

/** `prompt`: the words, which may name the addresses of what is linked. */
export function messageParts(message: readonly Content[], prompt: string): readonly object[] {
  return message.flatMap((block) => {
    if (block.type === 'text') return []
    if (block.type === 'resource_link' && !isPicture(block) && prompt.includes(block.uri)) return []
    return partOf(block)
  })
}

function partOf(block: Content): object {
  switch (block.type) {
    case 'image': return imagePart(`data:${block.mimeType};base64,${block.data}`)
    case 'audio': {
      const format = sounds.get(block.mimeType.toLowerCase())
      if (format === undefined) return textPart(lineOf(block))
      return { type: 'input_audio', input_audio: { data: block.data, format } }
    }
    case 'resource_link': return isPicture(block) ? imagePart(block.uri) : textPart(lineOf(block))
    case 'resource': {
      const { uri, mimeType = '', blob } = block.resource
      if (blob === undefined) return textPart(lineOf(block))
      if (TEXT.test(mimeType)) return textPart(Buffer.from(blob, 'base64').toString())
      if (mimeType.toLowerCase() !== 'application/pdf') return textPart(lineOf(block))
      const filename = uri.slice(uri.lastIndexOf(':') + 1)
      return { type: 'file', file: { filename, file_data: `data:${mimeType};base64,${blob}` } }
    }
    default: return textPart(lineOf(block))
  }
}

function imagePart(url: string): object { return { type: 'image_url', image_url: { url } } }
function textPart(text: string): object { return { type: 'text', text } }

function isPicture({ uri, mimeType = '' }: Extract<Content, { readonly type: 'resource_link' }>): boolean {
  if (!/^https?:\/\//i.test(uri) || !URL.canParse(uri)) return false
  return mainTypeOf(mimeType) === 'image' || (mimeType === '' && PICTURE.test(new URL(uri).pathname))
}

/** A block as a line of text. */
export function lineOf(block: Content): string {
  if (block.type === 'text') return block.text
  if (block.type === 'data') return formatJson(block.data) ?? 'null'
  if (block.type === 'resource_link') return `[link: ${block.name}, ${block.uri}]`
  if (block.type !== 'resource') return `[${block.type}: ${block.mimeType}, not shown]`
  const { uri, mimeType, text } = block.resource
  return text ?? `[resource: ${uri}, ${mimeType ?? 'of unknown type'}, not shown]`
}
