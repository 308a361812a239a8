/**
 * Tools over plain HTTP: what there is, one of them, and a call with the arguments as the body. Agents have
 * paths of their own and are no tools here.
 */
import { Fault } from '../../define/fault.ts'
import { LiveCall } from '../../define/live-call.ts'
import { PlainChannel } from '../../run/answer-message.ts'
import { getPrompt, readResource } from '../../run/reading.ts'
import { isThenable } from '../../util/thenable.ts'
import { parseJson } from '../../wire/json.ts'
import { JSON_TYPE, parseMediaType } from '../../wire/media.ts'
import { problemReply } from '../../wire/problem.ts'
import { boundedJson, caught, json, problemText, problemTextReply } from '../reply/reply.ts'
import { answerTool } from './tool-run.ts'
import type { Origin } from '../../define/call.ts'
import type { Catalog } from '../../define/catalog.ts'
import type { ResourceContents } from '../../define/content.ts'
import type { Prompt, PromptResult } from '../../define/prompt.ts'
import type { Resource, ResourceTemplate } from '../../define/resource.ts'
import type { Tool } from '../../define/tool.ts'
import type { Endpoint, Exchange, Overuse, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'
import type { DocumentPart } from '../../wire/openapi.ts'

const said = (): Promise<typeof import('../openapi/openapi-operations.ts')> => {
  return import('../openapi/openapi-operations.ts')
}

/** Their paths. */
export function toolEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const isOffered = (): boolean => catalog.tools.length > 0
  const list = (): object => ({ tools: catalog.tools.map(shownTool) })
  return [
    listEndpoint(catalog, '/tools', async () => (await said()).httpOperations.tools, isOffered, list),
    {
      path: '/tools/{tool}',
      methods: ['GET'],
      refuse: problemReply,
      handle: (exchange) => caught(service, exchange, () => json(shownTool(toolOf(service, exchange)))),
    },
    {
      path: '/tools/{tool}',
      methods: ['POST'],
      accepts: [JSON_TYPE],
      describe: async () => (await said()).describeTools(catalog.tools),
      refuse: problemReply,
      handle: (exchange) => caught(service, exchange, () => (
        answerTool(service, toolOf(service, exchange), exchange)
      )),
    },
  ]
}

function toolOf({ catalog }: Service, { params }: Exchange): Tool {
  const name = params.get('tool') ?? ''
  const tool = catalog.tool(name) ?? underscored(catalog.tools, name)
  if (tool !== undefined) return tool
  throw new Fault('not-found', `There is no tool '${name}' here; GET /tools lists those there are`)
}

/** Their paths. */
export function resourceEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const isOffered = (): boolean => catalog.resources.length > 0 || catalog.templates.length > 0
  const list = (): object => ({
    resources: catalog.resources.map(shownResource), resourceTemplates: catalog.templates.map(shownTemplate),
  })
  return [
    listEndpoint(catalog, '/resources', async () => (await said()).httpOperations.resources, isOffered, list),
    {
      path: '/resources/read',
      methods: ['GET'],
      describe: async () => ({ operations: { get: (await said()).httpOperations.readResource } }),
      isOffered,
      refuse: problemReply,
      handle: (exchange) => caught(service, exchange, () => answerResource(service, exchange)),
    },
  ]
}

/** Their paths. */
export function promptEndpoints(service: Service): readonly Endpoint[] {
  const { catalog } = service
  const isOffered = (): boolean => catalog.prompts.length > 0
  const list = (): object => ({ prompts: catalog.prompts.map(shownPrompt) })
  return [
    listEndpoint(catalog, '/prompts', async () => (await said()).httpOperations.prompts, isOffered, list),
    {
      path: '/prompts/{prompt}',
      methods: ['POST'],
      accepts: [JSON_TYPE],
      describe: async () => (await said()).describePrompts(catalog.prompts),
      refuse: problemReply,
      handle: (exchange) => caught(service, exchange, () => answerPrompt(service, exchange)),
    },
  ]
}

/** Answers with what a resource holds. Throws, or rejects with, a `Fault`. */
export function answerResource(service: Service, exchange: Exchange): Reply | Promise<Reply> {
  const { origin } = exchange
  const uri = uriIn(exchange.query)
  // It runs what an author wrote, so it is a call, whatever its method.
  const overuse = exchange.take('call', 1)
  return isThenable(overuse) ? overuse.then((later) => readOnce(service, origin, uri, later))
    : readOnce(service, origin, uri, overuse)
}

function readOnce(
  service: Service, origin: Origin, uri: string, overuse: Overuse | undefined,
): Reply | Promise<Reply> {
  if (overuse !== undefined) return problemReply({ status: 429, ...overuse, requestId: origin.requestId })
  const channel = new PlainChannel(service, origin, 'http')
  const call = new LiveCall(origin, channel, channel)
  const contents = readResource(service, uri, call)
  if (!isThenable(contents)) return replyOf(service, contents)
  call.cancelOnDisconnect()
  return contents.then((later) => replyOf(service, later))
}

/** The one parameter `uri`. A plus sign is one, because URIs have no blanks that it could stand for. */
function uriIn(query: string): string {
  const given = query.split('&').filter((pair) => pair === 'uri' || pair.startsWith('uri='))
  const [first = ''] = given
  const message = given.length > 1 ? 'is given twice; send one'
    : first.length <= 'uri='.length ? 'is missing; write /resources/read?uri=…'
    : 'has a broken escape; write it percent-encoded'
  try {
    const uri = decodeURIComponent(first.slice('uri='.length))
    if (given.length === 1 && uri !== '') return uri
  } catch {
    // What is wrong is said below.
  }
  throw new Fault('invalid', `The parameter uri ${message}`, { errors: [{ path: 'uri', message }] })
}

/** What an author's page may do in a browser at the address of this server: nothing. */
const guarded: readonly string[] = Object.freeze(['Content-Security-Policy', `default-src 'none'; sandbox`])

function replyOf({ limits }: Service, contents: readonly ResourceContents[]): Reply {
  const [only] = contents
  if (only === undefined || contents.length > 1) return boundedJson({ contents }, limits)
  const { text, blob = '', mimeType } = only
  const body = text ?? Buffer.from(blob, 'base64')
  if (Buffer.byteLength(body) > limits.maxResultBytes) {
    throw new Fault('too-large', `The resource is larger than ${limits.maxResultBytes} bytes`)
  }
  return { status: 200, type: typeOf(mimeType, text !== undefined), headers: guarded, body }
}

/** A media type that a header can carry. Text is sent as UTF-8, and says so where it could be taken amiss. */
function typeOf(mimeType: string | undefined, isText: boolean): string {
  const fine = mimeType !== undefined && /^[\t\x20-\x7e]+$/.test(mimeType) ? mimeType.trim() : ''
  const media = parseMediaType(fine)
  if (media === undefined) return isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'
  const { type, charset } = media
  if (!isText || charset === 'utf-8' || charset === 'utf8') return fine
  return charset !== undefined || type.startsWith('text/') ? `${type}; charset=utf-8` : fine
}

/** Answers with the messages of a prompt. Throws, or rejects with, a `Fault`. */
export function answerPrompt(service: Service, { body, params, origin }: Exchange): Reply | Promise<Reply> {
  const { catalog, limits } = service
  const name = params.get('prompt') ?? ''
  const prompt = catalog.prompt(name) ?? underscored(catalog.prompts, name)
  if (prompt === undefined) {
    throw new Fault('not-found', `There is no prompt '${name}' here; GET /prompts lists those there are`)
  }
  // No body is no arguments, as in MCP.
  const parsed = parseJson(body === '' ? '{}' : body, limits.maxDepth, limits.maxObjects)
  if (!parsed.ok) return problemTextReply(problemText(400, parsed.why, origin.requestId))
  const channel = new PlainChannel(service, origin, 'http')
  const call = new LiveCall(origin, channel, channel)
  const reply = ({ description, messages }: PromptResult): Reply => (
    boundedJson({ description, messages }, limits)
  )
  const result = getPrompt(service, prompt.name, parsed.value, call)
  if (!isThenable(result)) return reply(result)
  call.cancelOnDisconnect()
  return result.then(reply)
}

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
