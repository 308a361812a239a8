/**
 * Tools, resources and prompts over plain HTTP: their lists, and one of them read, got or called. The lists
 * show definitions as MCP does, of what the caller may use. Agents have paths of their own and are no tools
 * here.
 * Spec: MCP 2026-07-28, schemas `Tool`, `Resource`, `ResourceTemplate`, `Prompt`.
 */
import { Fault } from '../../define/fault.ts'
import { metaWithUi } from '../../define/files/tool-ui.ts'
import { LiveCall } from '../../define/live-call.ts'
import { PlainChannel } from '../../run/answer-message.ts'
import { allowed, requireScopes } from '../../define/principal.ts'
import { getPrompt, readableResources, readResource } from '../../run/reading.ts'
import { Later } from '../../util/later.ts'
import { andThen, isThenable } from '../../util/thenable.ts'
import { JSON_TYPE, parseMediaType } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { percentDecoded } from '../../wire/uri.ts'
import { boundedJson, endpoint, json, listHandler, valueIn } from '../reply/reply.ts'
import type { Origin } from '../../define/call.ts'
import type { ResourceContents } from '../../define/content.ts'
import type { Principal } from '../../define/principal.ts'
import type { Prompt } from '../../define/prompt.ts'
import type { Resource, ResourceTemplate } from '../../define/resource.ts'
import type { Tool } from '../../define/tool.ts'
import type { Description, Endpoint, Exchange, Overuse, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { MaybePromise } from '../../util/thenable.ts'

const toolRuns = new Later(() => import('./tool-run.ts'))

type Operations = typeof import('../openapi/openapi-operations.ts')

/** What OpenAPI lists of one method, loaded when the description is read. */
export function describedBy(
  method: string, name: keyof Operations['httpOperations'],
): () => Promise<Description> {
  return async () => {
    const { httpOperations } = await import('../openapi/openapi-operations.ts')
    return { operations: { [method]: httpOperations[name] } }
  }
}

/** The paths of tools, resources and prompts. */
export function catalogEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const hasResources = (): boolean => catalog.resources.length > 0 || catalog.templates.length > 0
  const listOf = (
    name: 'tools' | 'resources' | 'prompts', isOffered: () => boolean, list: (principal: Principal) => object,
  ): Endpoint => endpoint(service, {
    method: 'GET', path: `/${name}`, describe: describedBy('get', name), isOffered,
    work: listHandler(service, list),
  })
  return [
    listOf('tools', () => catalog.tools.length > 0, (principal) => (
      { tools: allowed(principal, catalog.tools).map(shownTool) }
    )),
    endpoint(service, {
      method: 'GET',
      path: '/tools/{tool}',
      work(exchange) {
        const tool = toolOf(service, exchange)
        requireScopes(exchange.origin.principal, tool.scopes)
        return json(shownTool(tool))
      },
    }),
    endpoint(service, {
      method: 'POST',
      path: '/tools/{tool}',
      accepts: [JSON_TYPE],
      describe: async (principal) => {
        const { describeTools } = await import('../openapi/openapi-operations.ts')
        return describeTools(allowed(principal, catalog.tools))
      },
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
      describe: describedBy('get', 'readResource'),
      isOffered: hasResources,
      work: (exchange) => answerResource(service, exchange, uriIn(exchange.query)),
    }),
    listOf('prompts', () => catalog.prompts.length > 0, (principal) => (
      { prompts: allowed(principal, catalog.prompts).map((one) => shown(one, shownOfPrompt)) }
    )),
    endpoint(service, {
      method: 'POST',
      path: '/prompts/{prompt}',
      accepts: [JSON_TYPE],
      describe: async (principal) => {
        const { describePrompts } = await import('../openapi/openapi-operations.ts')
        return describePrompts(allowed(principal, catalog.prompts))
      },
      work: (exchange) => answerPrompt(service, exchange),
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

function toolOf({ catalog }: Service, { params }: Exchange): Tool {
  const name = params.get('tool') ?? ''
  return catalog.tool(name) ?? withUnderscores(catalog.tools, name) ?? missing('tool', name)
}

/** The one that has a `-` where this spelling has `_`. */
function withUnderscores<T extends { readonly name: string }>(
  all: readonly T[], spelling: string,
): T | undefined {
  return all.find(({ name }) => name.replaceAll('-', '_') === spelling)
}

function missing(what: 'tool' | 'prompt', name: string): never {
  throw new Fault('not-found', `There is no ${what} '${name}' here; GET /${what}s lists those there are`)
}

/** Runs what an author wrote, for a reply that is whole. Throws, or rejects with, a `Fault`. */
function replyWith<R>(
  service: Service, origin: Origin, run: (call: LiveCall) => MaybePromise<R>, replyOf: (result: R) => Reply,
): MaybePromise<Reply> {
  const channel = new PlainChannel(service, origin, 'http')
  const call = new LiveCall(origin, channel, channel)
  const result = run(call)
  if (isThenable(result)) call.cancelOnDisconnect()
  return andThen(result, replyOf)
}

function answerPrompt(service: Service, { body, params, origin }: Exchange): MaybePromise<Reply> {
  const { catalog, limits } = service
  const name = params.get('prompt') ?? ''
  const prompt = catalog.prompt(name) ?? withUnderscores(catalog.prompts, name) ?? missing('prompt', name)
  // No body is no arguments, as in MCP.
  const args = valueIn(body || '{}', service)
  return replyWith(
    service, origin, (call) => getPrompt(service, prompt.name, args, call),
    ({ description, messages }) => boundedJson({ description, messages }, limits),
  )
}

/** Reads a resource. */
export function answerResource(service: Service, exchange: Exchange, uri: string): MaybePromise<Reply> {
  const { origin } = exchange
  const read = (overuse: Overuse | undefined): MaybePromise<Reply> => {
    if (overuse !== undefined) return problemReply({ status: 429, ...overuse, requestId: origin.requestId })
    return replyWith(
      service, origin, (call) => readResource(service, uri, call),
      (contents) => resourceReply(service, contents),
    )
  }
  // It runs what an author wrote, so it counts as a call, whatever its method.
  return andThen(exchange.take('call', 1), read)
}

/** The one parameter `uri`. A plus sign is one, because URIs have no blanks that it could stand for. */
function uriIn(query: string): string {
  const given = query.split('&').filter((pair) => pair === 'uri' || pair.startsWith('uri='))
  const [first = ''] = given
  const message = given.length > 1 ? 'is given twice; send one'
    : first.length <= 'uri='.length ? 'is missing; write /resources/read?uri=…'
    : 'has a broken escape; write it percent-encoded'
  const uri = percentDecoded(first.slice('uri='.length))
  if (given.length === 1 && uri) return uri
  throw new Fault('invalid', `The parameter uri ${message}`, { errors: [{ path: 'uri', message }] })
}

/** What an author's page may do in a browser at the address of this server: nothing. */
const guarded: readonly string[] = Object.freeze(['Content-Security-Policy', `default-src 'none'; sandbox`])

function resourceReply({ limits }: Service, contents: readonly ResourceContents[]): Reply {
  const [only] = contents
  if (only === undefined || contents.length > 1) return boundedJson({ contents }, limits)
  const { text, blob = '', mimeType } = only
  const body = text ?? Buffer.from(blob, 'base64')
  if (Buffer.byteLength(body) > limits.maxResultBytes) {
    throw new Fault('too-large', `The resource is larger than ${limits.maxResultBytes} bytes`)
  }
  return { status: 200, type: typeOf(mimeType, text !== undefined), headers: guarded, body }
}

/** A media type that a header can carry. Text is sent as UTF-8, and its type names that where it matters. */
function typeOf(mimeType: string | undefined, isText: boolean): string {
  const fine = mimeType !== undefined && /^[\t\x20-\x7e]+$/.test(mimeType) ? mimeType.trim() : ''
  const media = parseMediaType(fine)
  if (media === undefined) return isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'
  const { type, charset } = media
  if (!isText || charset === 'utf-8' || charset === 'utf8') return fine
  return charset !== undefined || type.startsWith('text/') ? `${type}; charset=utf-8` : fine
}
