/** Blocks of content as Markdown, for clients that show chats and know nothing but text. */
import { formatJson } from '../../kernel/wire/json.ts'
import type { Content } from '../../kernel/define/content.ts'

/** Blocks as text. Files stand in paragraphs of their own; `isFirst`: there was no text before. */
export function textOfBlocks(blocks: readonly Content[], isFirst: boolean): string {
  let all = ''
  for (const block of blocks) all += textOfBlock(block, isFirst && all === '')
  return all
}

export function textOfBlock(block: Content, isFirst: boolean): string {
  return block.type === 'text' ? block.text : `${isFirst ? '' : '\n\n'}${markdownOf(block)}\n\n`
}

function markdownOf(block: Exclude<Content, { readonly type: 'text' }>): string {
  switch (block.type) {
    case 'image': return `![image](data:${block.mimeType};base64,${block.data})`
    case 'audio': return `[audio](data:${block.mimeType};base64,${block.data})`
    case 'resource_link': return `[${block.title ?? block.name}](${block.uri})`
    case 'data': return `\`\`\`json\n${formatJson(block.data)}\n\`\`\``
    case 'resource': {
      const { text, blob, uri, mimeType = 'application/octet-stream' } = block.resource
      return text ?? `[${uri}](data:${mimeType};base64,${blob ?? ''})`
    }
  }
}
