/**
 * Method name → decode → operation → encode. Knows no transport: what comes in is a message and its
 * peer, what goes out leaves by the channel.
 */
import { isRecord, text } from '../core/content.ts'
import { asFault, Fault, sentence } from '../core/fault.ts'
import { isSeverity } from '../core/log.ts'
import { callTool } from '../core/operations.ts'
import { complete, getPrompt, readResource } from '../core/reading.ts'
import { formatError, METHOD_NOT_FOUND, rpcError } from '../wire/jsonrpc.ts'
import { discover } from './handshake.ts'
import { cacheHints, page } from './lists.ts'
import { listen } from './notifications.ts'
import { MAX_SUBSCRIPTIONS } from './session.ts'
import { isWrapped, promptResult, readResult, toolResult } from './shape.ts'
import { TaskRun } from './task-run.ts'
import { cancelTask, getTask, mayBecomeTask, updateTask } from './tasks.ts'
import { McpRequest } from './request.ts'
import type { LiveCall, Origin } from '../core/call.ts'
import type { Tool, ToolResult } from '../core/tool.ts'
import type { Message } from '../wire/jsonrpc.ts'
import type { McpContext } from './context.ts'
import type { ResponseChannel } from './channel.ts'
import type { Peer } from './session.ts'

/** A result, its JSON text, a promise of one of them, or nothing where the method answers by itself. */
type Result = object | string | undefined | Promise<object | string | undefined>

/** What comes of a tool: the result's JSON text, or the result that tells of its failure. */
type Outcome = object | string

type Method = (request: McpRequest) => Result

const empty = '{}'
const noParams: Readonly<Record<string, unknown>> = Object.freeze({})

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', () => empty],
  ['server/discover', discover],
  ['tools/list', (request) => page(request, 'tools')],
  ['tools/call', toolsCall],
  ['resources/list', (request) => page(request, 'resources')],
  ['resources/templates/list', (request) => page(request, 'resourceTemplates')],
  ['resources/read', resourcesRead],
  ['resources/subscribe', (request) => subscription(request, true)],
  ['resources/unsubscribe', (request) => subscription(request, false)],
  ['prompts/list', (request) => page(request, 'prompts')],
  ['prompts/get', promptsGet],
  ['completion/complete', completionComplete],
  ['logging/setLevel', setLevel],
  ['subscriptions/listen', listen],
  ['tasks/get', getTask],
  ['tasks/update', updateTask],
  ['tasks/cancel', cancelTask],
])

/** Answers one request, now or later. Never throws. The request is returned for a disconnect to cancel. */
export function dispatch(
  mcp: McpContext, message: Message & { readonly kind: 'request' }, peer: Peer, origin: Origin, channel: ResponseChannel,
): McpRequest | undefined {
  const { id, method: name } = message
  const method = peer.revision.methods.has(name) && isOffered(mcp, name) ? methods.get(name) : undefined
  if (method === undefined) {
    const error = rpcError(METHOD_NOT_FOUND, `There is no method '${name}' in ${peer.revision.name} here`)
    channel.finish(formatError(id, error), peer.revision.unknownMethodStatus)
    return undefined
  }
  const params = isRecord(message.params) ? message.params : noParams
  const metadata = isRecord(params['_meta']) ? params['_meta'] : noParams
  const request = new McpRequest(mcp, peer, origin, channel, id, params, metadata)
  try {
    const result = method(request)
    if (!(result instanceof Promise)) settle(request, result)
    else result.then((later) => settle(request, later)).catch((error: unknown) => request.fail(error))
  } catch (error) {
    request.fail(error)
  }
  return request
}

function settle(request: McpRequest, result: object | string | undefined): void {
  if (result !== undefined) request.succeed(result)
}

/** A method whose capability is off is unknown: what is advertised and what works agree. */
function isOffered(mcp: McpContext, method: string): boolean {
  const { catalog } = mcp.service
  if (method.startsWith('resources/')) return catalog.offers('resource')
  if (method.startsWith('prompts/')) return catalog.offers('prompt')
  if (method.startsWith('completion/')) return catalog.offers('completion')
  if (method.startsWith('tasks/')) return mcp.offersTasks
  return true
}

function stringParam(request: McpRequest, name: string): string {
  const value = request.params[name]
  if (typeof value === 'string') return value
  throw new Fault('invalid', `params.${name} must be a string`)
}

function toolsCall(request: McpRequest): Result {
  const name = stringParam(request, 'name')
  const { mcp, params } = request
  const given = params['arguments']
  if (given !== undefined && !isRecord(given)) {
    throw new Fault('invalid', 'params.arguments must be an object')
  }
  const tool = mcp.tools.find(name)
  if (tool === undefined) throw new Fault('invalid', `Unknown tool: ${name}`)
  const args = given ?? {}
  const call = request.call(['tools/call', name, args])
  if (!mayBecomeTask(request, tool)) return runTool(request, tool, args, call)
  request.task = new TaskRun(request, tool, call)
  return request.task.run(() => runTool(request, tool, args, call))
}

function runTool(request: McpRequest, tool: Tool, args: unknown, call: LiveCall): Outcome | Promise<Outcome> {
  const { mcp, peer } = request
  const wraps = isWrapped(tool)
  // Written at once: what JSON cannot say is the tool's failure like any other.
  const shaped = (result: ToolResult): string => request.encode(toolResult(result, peer.revision, wraps))
  const failed = (error: unknown): object => toolFailure(request, tool, error)
  try {
    const result = callTool(mcp.service, tool, args, call, peer.session?.workload)
    return result instanceof Promise ? result.then(shaped).catch(failed) : shaped(result)
  } catch (error) {
    return failed(error)
  }
}

/** What a model can mend, or should hear of, is a result; the rest is an error of the protocol. */
function toolFailure(request: McpRequest, tool: Tool, error: unknown): object {
  const fault = asFault(error)
  const { kind } = fault
  const isClientLack = kind === 'unsupported' && isRecord(fault.detail) && 'ability' in fault.detail
  const isResult = kind === 'invalid' || kind === 'timeout' || kind === 'failed' || kind === 'internal'
    || (isClientLack && request.peer.revision.ask === 'request')
  if (!isResult) throw fault
  const said = sentence(fault, request.origin.requestId, request.mcp.service.exposeErrors)
  return { content: [text(kind === 'timeout' ? `${tool.name}: ${said}` : said)], isError: true }
}

function resourcesRead(request: McpRequest): Result {
  const uri = stringParam(request, 'uri')
  const { mcp, peer } = request
  const cache = peer.revision.stamps ? cacheHints(request) : {}
  const contents = readResource(mcp.service, uri, request.call(['resources/read', uri]), peer.session?.workload)
  return contents instanceof Promise
    ? contents.then((later) => ({ ...readResult(later), ...cache }))
    : { ...readResult(contents), ...cache }
}

function subscription(request: McpRequest, isWanted: boolean): Result {
  const uri = stringParam(request, 'uri')
  const { session } = request.peer
  if (session === undefined) {
    throw new Fault('conflict', 'Subscriptions need a session; begin with initialize')
  }
  if (isWanted && session.subscriptions.size >= MAX_SUBSCRIPTIONS) {
    throw new Fault('busy', `A session may have ${MAX_SUBSCRIPTIONS} subscriptions`)
  }
  if (isWanted) session.subscriptions.add(uri)
  else session.subscriptions.delete(uri)
  return empty
}

function promptsGet(request: McpRequest): Result {
  const name = stringParam(request, 'name')
  const { mcp, params, peer } = request
  const args = params['arguments'] ?? {}
  const call = request.call(['prompts/get', name, args])
  const result = getPrompt(mcp.service, name, args, call, peer.session?.workload)
  return result instanceof Promise
    ? result.then((later) => promptResult(later, peer.revision))
    : promptResult(result, peer.revision)
}

function completionComplete(request: McpRequest): Result {
  const { mcp, params, peer } = request
  const { ref, argument, context } = params
  const call = request.call()
  const result = complete(mcp.service, ref, argument, context, call, peer.session?.workload)
  return result instanceof Promise ? result.then((completion) => ({ completion })) : { completion: result }
}

function setLevel(request: McpRequest): Result {
  const { level } = request.params
  if (!isSeverity(level)) {
    throw new Fault('invalid', 'params.level must be a severity, from debug to emergency')
  }
  if (request.peer.session !== undefined) request.peer.session.logLevel = level
  return empty
}
