/**
 * What the lists of tools, resources and prompts show: definitions in MCP's words, without anything that is
 * not told to clients. A list is put together once and kept until the catalog changes.
 * Spec: MCP 2026-07-28, schemas `Tool`, `Resource`, `ResourceTemplate`, `Prompt`.
 */
import { problemReply } from '../../wire/problem.ts'
import { json } from './reply.ts'
import type { Catalog } from '../../define/catalog.ts'
import type { Prompt } from '../../define/prompt.ts'
import type { Resource, ResourceTemplate } from '../../define/resource.ts'
import type { Tool } from '../../define/tool.ts'
import type { Endpoint, Reply } from '../../http/message/exchange.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

/** A tool, as it is shown. What is undefined is left out by JSON. */
export function shownTool(tool: Tool): object {
  const { name, title, description, input, output, annotations, icons, _meta } = tool
  return {
    name, title, description, inputSchema: input.json, outputSchema: output?.json, annotations, icons, _meta,
  }
}

/** A resource, as it is shown. */
export function shownResource(resource: Resource): object {
  const { uri, name, title, description, mimeType, size, annotations, icons, _meta } = resource
  return { uri, name, title, description, mimeType, size, annotations, icons, _meta }
}

/** A template, as it is shown. */
export function shownTemplate(template: ResourceTemplate): object {
  const { uriTemplate, name, title, description, mimeType, annotations, icons, _meta } = template
  return { uriTemplate, name, title, description, mimeType, annotations, icons, _meta }
}

/** A prompt, as it is shown. */
export function shownPrompt(prompt: Prompt): object {
  const { name, title, description, arguments: args, icons, _meta } = prompt
  return { name, title, description, arguments: args, icons, _meta }
}

/** The path of a list; `operation` is what OpenAPI says of it. */
export function listEndpoint(
  catalog: Catalog, path: string, operation: () => Promise<DocumentPart>, isOffered: () => boolean,
  list: () => object,
): Endpoint {
  let kept: Reply | undefined
  catalog.onChange(() => { kept = undefined })
  return {
    path,
    methods: ['GET'],
    describe: async () => ({ operations: { get: await operation() } }),
    isOffered,
    refuse: problemReply,
    handle: () => kept ??= json(list()),
  }
}

/** What has a name with `-` in each place where this spelling has `_`. */
export function underscored<T extends { readonly name: string }>(
  things: readonly T[], spelling: string,
): T | undefined {
  return things.find(({ name }) => name.replaceAll('-', '_') === spelling)
}
