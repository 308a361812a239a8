/**
 * Tools, resources and prompts over plain HTTP: their lists, and one of them read, got or called. The lists
 * show definitions as MCP does, of what the caller may use. Agents have paths of their own and are no tools
 * here.
 * Spec: MCP 2026-07-28, schemas `Tool`, `Resource`, `ResourceTemplate`, `Prompt`.
 */
import { Fault } from '../../kernel/define/fault.ts'
import { describer } from '../../floors/openapi/describer.ts'
import { metaWithUi } from '../../kernel/define/resource.ts'
import { allowed, requireScopes } from '../../kernel/define/principal.ts'
import { readableResources } from '../../kernel/run/located-resource.ts'
import { Later } from '../../kernel/util/later.ts'
import { JSON_TYPE } from '../../kernel/wire/media.ts'
import { percentDecoded } from '../../kernel/wire/uri.ts'
import { endpoint, json, listHandler } from '../../floors/reply/reply.ts'
import type { Describer } from '../../floors/openapi/describer.ts'
import type { Catalog } from '../../kernel/define/catalog.ts'
import type { Principal } from '../../kernel/define/principal.ts'
import type { Prompt } from '../../kernel/define/prompt.ts'
import type { Resource, ResourceTemplate } from '../../kernel/define/resource.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { Description, Endpoint, Exchange } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'

const toolRuns = new Later(() => import('./tool-run.ts'))
export const readings: Later<typeof import('./readings.ts')> = new Later(() => import('./readings.ts'))

type Operations = typeof import('./openapi-operations.ts')

export const describedBy: Describer<keyof Operations['httpOperations']['operations']> = (
  describer(async () => (await import('./openapi-operations.ts')).httpOperations)
)

/** Describes each of some things that the caller may use. */
export function describedEach<T extends { readonly scopes: readonly string[] }>(
  by: (operations: Operations) => (things: readonly T[]) => Description, all: () => readonly T[],
): NonNullable<Endpoint['describe']> {
  return async (principal) => by(await import('./openapi-operations.ts'))(allowed(principal, all()))
}

/** The paths of tools, resources and prompts. */
export function catalogEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const hasResources = (): boolean => catalog.resources.length > 0 || catalog.templates.length > 0
  const listOf = (
    name: 'tools' | 'resources' | 'prompts', isOffered: () => boolean, list: (principal: Principal) => object,
  ): Endpoint => endpoint(service, {
    method: 'GET', path: `/${name}`, describe: describedBy('GET', name), isOffered,
    work: listHandler(service, list),
  })
  const isTool: Endpoint['mayName'] = (params) => toolNamed(catalog, params.get('tool') ?? '') !== undefined
  return [
    listOf('tools', () => catalog.tools.length > 0, (principal) => (
      { tools: allowed(principal, catalog.tools).map(shownTool) }
    )),
    endpoint(service, {
      method: 'GET',
      path: '/tools/{tool}',
      mayName: isTool,
      about: { text: 'POST its arguments to a tool calls it.', rank: 1 },
      work(exchange) {
        const tool = toolOf(service, exchange)
        requireScopes(exchange.origin, tool.scopes)
        return json(shownTool(tool))
      },
    }),
    endpoint(service, {
      method: 'POST',
      path: '/tools/{tool}',
      mayName: isTool,
      accepts: [JSON_TYPE],
      describe: describedEach(({ describeTools }) => describeTools, () => catalog.tools),
      load: toolRuns.load,
      work: (exchange) => toolRuns.loaded.answerTool(service, toolOf(service, exchange), exchange),
    }),
    listOf('resources', hasResources, (principal) => ({
      resources: readableResources(catalog, principal).map((one) => shown(one, ['uri', ...shownOfResource])),
      resourceTemplates: allowed(principal, catalog.templates)
        .map((one) => shown(one, ['uriTemplate', ...shownOfResource])),
    })),
    endpoint(service, {
      method: 'GET',
      path: '/resources/read',
      describe: describedBy('GET', 'readResource'),
      isOffered: hasResources,
      load: readings.load,
      work: (exchange) => readings.loaded.answerResource(service, exchange, uriIn(exchange)),
    }),
    listOf('prompts', () => catalog.prompts.length > 0, (principal) => (
      { prompts: allowed(principal, catalog.prompts).map((one) => shown(one, shownOfPrompt)) }
    )),
    endpoint(service, {
      method: 'POST',
      path: '/prompts/{prompt}',
      mayName: (params) => promptNamed(catalog, params.get('prompt') ?? '') !== undefined,
      accepts: [JSON_TYPE],
      describe: describedEach(({ describePrompts }) => describePrompts, () => catalog.prompts),
      load: readings.load,
      work: (exchange) => readings.loaded.answerPrompt(service, promptOf(service, exchange), exchange),
    }),
  ]
}

const shownOfResource = ['name', 'title', 'description', 'mimeType', 'size', 'annotations', 'icons', '_meta']
const shownOfPrompt = ['name', 'title', 'description', 'arguments', 'icons', '_meta']

function shownTool(tool: Tool): object {
  const { name, title, description, input, output, annotations, icons } = tool
  return {
    name, title, description, inputSchema: input.json, outputSchema: output?.json, annotations, icons,
    _meta: metaWithUi(tool),
  }
}

/** The members that clients see. */
function shown<T extends Prompt | Resource | ResourceTemplate>(one: T, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, one[name as keyof T]]))
}

function toolOf({ catalog }: Service, { params, basePath }: Exchange): Tool {
  const name = params.get('tool') ?? ''
  return toolNamed(catalog, name) ?? missing('tool', name, basePath)
}

function toolNamed(catalog: Catalog, name: string): Tool | undefined {
  return catalog.tool(name) ?? catalog.tools.find((tool) => withUnderscores(tool.name) === name)
}

/** The other spelling of a name in a path: `_` stands for each `-`. */
export function withUnderscores(name: string): string {
  return name.replaceAll('-', '_')
}

function promptOf({ catalog }: Service, { params, basePath }: Exchange): Prompt {
  const name = params.get('prompt') ?? ''
  return promptNamed(catalog, name) ?? missing('prompt', name, basePath)
}

function promptNamed(catalog: Catalog, name: string): Prompt | undefined {
  return catalog.prompt(name) ?? catalog.prompts.find((prompt) => withUnderscores(prompt.name) === name)
}

function missing(what: 'tool' | 'prompt', name: string, basePath: string): never {
  const remedy = `GET ${basePath}/${what}s lists those there are`
  throw new Fault('not-found', `There is no ${what} '${name}' here; ${remedy}`)
}

/** The one parameter `uri`. A plus sign is one, because URIs have no blanks that it could stand for. */
function uriIn({ query, basePath }: Exchange): string {
  const given = query.split('&').filter((pair) => pair === 'uri' || pair.startsWith('uri='))
  const [first = ''] = given
  const message = given.length > 1 ? 'is given twice; send one'
    : first.length <= 'uri='.length ? `is missing; write ${basePath}/resources/read?uri=…`
    : 'has a broken escape; write it percent-encoded'
  const uri = percentDecoded(first.slice('uri='.length))
  if (given.length === 1 && uri) return uri
  throw new Fault('invalid', `The parameter uri ${message}`, { errors: [{ path: 'uri', message }] })
}
