/** Definitions and results in the shape of one revision: its members, its content blocks, its values. */
import { isRecord, text } from '../../../kernel/define/content.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import type { Content } from '../../../kernel/define/content.ts'
import type { PromptResult } from '../../../kernel/define/prompt.ts'
import type { Tool, ToolResult } from '../../../kernel/define/tool.ts'
import type { Entity, Revision } from './revisions.ts'

/** The members of a definition that the revision has, in its order, without those that are undefined. */
export function pick(
  entity: Entity, source: Readonly<Record<string, unknown>>, row: Revision,
): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const member of row.members[entity]) {
    if (source[member] !== undefined) picked[member] = source[member]
  }
  return picked
}

/**
 * A tool of `tools/list`. `hasExtensions`: `_meta` is shown in every revision, since MCP Apps need it.
 * `more`: members that it has here besides its own, or in their place.
 */
export function toolDescriptor(
  tool: Tool, row: Revision, hasExtensions: boolean, more: Readonly<Record<string, unknown>> = {},
): object {
  const { input, output, ...rest } = tool
  const hasOutput = output !== undefined && row.structured !== 'never'
  const outputSchema = hasOutput ? wrappedSchema(output.json, row) : undefined
  const description = rest.description || undefined
  const source = { ...rest, inputSchema: input.json, outputSchema, description, ...more }
  const { _meta } = source
  const shown = pick('tool', source, row)
  return hasExtensions && _meta !== undefined ? { ...shown, _meta } : shown
}

/** Revisions that allow only objects get any other value as the member `result` of an object. */
function wrappedSchema(schema: Readonly<Record<string, unknown>>, row: Revision): object {
  if (row.structured === 'any' || schema['type'] === 'object') return schema
  const { $schema, ...own } = schema
  // The references of a schema with an `$id` resolve against it, wherever it is.
  if (own['$id'] !== undefined) return wrapped({ $schema }, own)
  const { $defs, definitions, ...result } = moved(own)
  return wrapped({ $schema, $defs, definitions }, result)
}

function wrapped(root: object, result: object): object {
  const shared = Object.fromEntries(Object.entries(root).filter(([, value]) => value !== undefined))
  return { ...shared, type: 'object', properties: { result }, required: ['result'] }
}

const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** A schema as the member `result`: its references are adapted, `$defs` stay at the root. */
function moved(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const members = Object.entries(schema).map(([name, value]) => {
    if (/^\$(dynamic|recursive)?ref$/i.test(name)) return [name, movedReference(value)]
    return [name, dataKeywords.has(name) ? value : movedWithin(value)]
  })
  return Object.fromEntries(members)
}

function movedWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(movedWithin)
  return isRecord(value) && typeof value['$id'] !== 'string' ? moved(value) : value
}

function movedReference(value: unknown): unknown {
  if (typeof value !== 'string' || !/^#(\/|$)/.test(value)) return value
  return /^#\/(\$defs|definitions)(\/|$)/.test(value) ? value : `#/properties/result${value.slice(1)}`
}

/** A tool's result. `tool`: undefined where it was removed meanwhile. */
export function toolResult(
  result: ToolResult, row: Revision, tool: Tool | undefined,
): Record<string, unknown> {
  const { content, structuredContent, isError, _meta } = result
  const shaped: Record<string, unknown> = { content: blocks(content, row) }
  if (structuredContent !== undefined && row.structured !== 'never') {
    const isWrapped = tool?.output !== undefined && tool.output.json['type'] !== 'object'
    const isFit = row.structured === 'any' || (isRecord(structuredContent) && !isWrapped)
    shaped['structuredContent'] = isFit ? structuredContent : { result: structuredContent }
  }
  if (isError === true) shaped['isError'] = true
  if (_meta !== undefined) shaped['_meta'] = _meta
  return shaped
}

function blocks(content: readonly Content[], row: Revision): readonly Content[] {
  for (const { type } of content) {
    if (!row.blocks.has(type)) return content.map((block) => down(block, row))
  }
  return content
}

/** What an old client gets instead of a block that it does not know. */
function down(block: Content, row: Revision): Content {
  if (row.blocks.has(block.type)) return block
  switch (block.type) {
    case 'audio': return {
      type: 'resource', resource: { uri: 'audio:inline', mimeType: block.mimeType, blob: block.data },
    }
    case 'data': return text(formatJson(block.data) ?? 'null')
    case 'resource_link': return text(`${block.title ?? block.name} (${block.uri})`)
    default: return block
  }
}

export function promptResult(result: PromptResult, row: Revision): Record<string, unknown> {
  return {
    ...result.description !== undefined && { description: result.description },
    messages: result.messages.map(({ role, content }) => ({ role, content: blocks([content], row)[0] })),
  }
}
