/** Content of prompts and of answers, as ACP has it. Spec: ACP 1, ContentBlock. */
import { isRecord, text } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { unseen } from '../../kernel/define/validate.ts'
import { decodeBase64 } from '../../kernel/wire/base64.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import type { Content } from '../../kernel/define/content.ts'

export interface PromptContent {
  /** As `promptTextOf` has it. */
  readonly prompt: string
  readonly message: readonly Content[]
}

type Block = Readonly<Record<string, unknown>>

/** Decodes a prompt. Throws `Fault('invalid')` for the first block that is wrong. */
export function decodePrompt(blocks: unknown): PromptContent {
  if (!Array.isArray(blocks) || blocks.length === 0) throw wrong('prompt', 'must be a list of content blocks')
  const message = blocks.map((block: unknown, index) => blockOf(block, `prompt[${index}]`))
  return { prompt: promptTextOf(message), message }
}

/** The texts of a message; at the place of what is linked or embedded, a link. */
export function promptTextOf(message: readonly Content[]): string {
  let prompt = ''
  for (const [index, block] of message.entries()) {
    // Editors cut a text where something is mentioned; two texts in a row are two.
    if (block.type === 'text' && message[index - 1]?.type === 'text') prompt += '\n'
    prompt += inline(block)
  }
  return prompt
}

function inline(block: Content): string {
  switch (block.type) {
    case 'text': return block.text
    case 'resource_link': return `[${block.title ?? block.name}](${block.uri})`
    case 'resource': return `[${nameIn(block.resource.uri)}](${block.resource.uri})`
    default: return ''
  }
}

/** The last part of an address. */
function nameIn(uri: string): string {
  return /(?<![^/])([^/]+)\/*$/.exec(uri)?.[1] ?? uri
}

function blockOf(given: unknown, at: string): Content {
  if (!isRecord(given)) throw wrong(at, 'must be a content block')
  const block = withoutNulls(given)
  switch (block['type']) {
    case 'text': return text(stringIn(block, 'text', at))
    case 'image':
    case 'audio': {
      const data = stringIn(block, 'data', at)
      if (decodeBase64(data) === undefined) throw wrong(`${at}.data`, 'must be base64')
      return { type: block['type'], data, mimeType: stringIn(block, 'mimeType', at) }
    }
    case 'resource_link': {
      const { size } = block
      return {
        type: 'resource_link', uri: stringIn(block, 'uri', at), name: stringIn(block, 'name', at),
        ...textsIn(block, ['title', 'description', 'mimeType']), ...typeof size === 'number' && { size },
      }
    }
    case 'resource': return { type: 'resource', resource: resourceOf(block['resource'], `${at}.resource`) }
    default: {
      const known = 'text, image, audio, resource_link or resource'
      throw wrong(`${at}.type`, `must be ${known}${unseen(block['type'])}`)
    }
  }
}

function resourceOf(given: unknown, at: string): Extract<Content, { readonly type: 'resource' }>['resource'] {
  if (!isRecord(given)) throw wrong(at, 'must be an object')
  const resource = withoutNulls(given)
  const known = { uri: stringIn(resource, 'uri', at), ...textsIn(resource, ['mimeType']) }
  if (typeof resource['text'] === 'string') return { ...known, text: resource['text'] }
  const blob = stringIn(resource, 'blob', at)
  if (decodeBase64(blob) === undefined) throw wrong(`${at}.blob`, 'must be base64')
  return { ...known, blob }
}

/** Members that may be left out may be null as well. */
function withoutNulls(block: Block): Block {
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null))
}

function textsIn(block: Block, names: readonly string[]): Readonly<Record<string, string>> {
  const found = names.flatMap((name) => {
    const value = block[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return Object.fromEntries(found)
}

function stringIn(block: Block, name: string, at: string): string {
  const value = block[name]
  if (typeof value === 'string') return value
  throw wrong(`${at}.${name}`, 'must be a string')
}

/** What is wrong with a member. */
export function wrong(at: string, demand: string): Fault {
  return new Fault('invalid', `${at} ${demand}`)
}

/** A block of an answer. Data, which ACP does not have, is its JSON text. */
export function encodeBlock(block: Content): object {
  if (block.type !== 'data') return block
  return text(`\n\`\`\`json\n${formatJson(block.data, 2)}\n\`\`\`\n`)
}
