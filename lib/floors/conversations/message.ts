/** What a message of a client holds: its texts in lines, and its files. */
import { mainTypeOf } from '../../kernel/wire/media.ts'
import type { AudioContent, Content, EmbeddedResource, ImageContent } from '../../kernel/define/content.ts'

/** The text of blocks, each on lines of its own. */
export function linesOf(content: readonly Content[]): string {
  let all: string | undefined
  for (const block of content) {
    if (block.type === 'text') all = all === undefined ? block.text : `${all}\n${block.text}`
  }
  return all ?? ''
}

/** The scheme of what a client has attached to a message: its name follows. */
export const ATTACHMENT = 'attachment:'

/** A file with its bytes as base64: a picture, a sound, or anything else by its name. */
export function attachmentOf(
  data: string, mimeType: string | undefined, name: string,
): ImageContent | AudioContent | EmbeddedResource {
  const kind = mimeType && mainTypeOf(mimeType)
  if (mimeType !== undefined && (kind === 'image' || kind === 'audio')) return { type: kind, data, mimeType }
  // Half a surrogate pair has no percent-encoding; as bytes it is a replacement character.
  const uri = ATTACHMENT + encodeURIComponent(Buffer.from(name).toString())
  return { type: 'resource', resource: { uri, ...mimeType !== undefined && { mimeType }, blob: data } }
}
