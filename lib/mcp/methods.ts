/**
 * Method name → decode → operation → encode. Knows no transport: what comes in is a message and its
 * peer, what goes out leaves by the link.
 */
import { isRecord, text } from '../core/content.ts'
import { asFault, Fault, sentence } from '../core/fault.ts'
import { callTool } from '../core/operations.ts'
import { complete, getPrompt, readResource } from '../core/reading.ts'
import { formatError, METHOD_NOT_FOUND, rpcError } from '../wire/jsonrpc.ts'
import { discover } from './handshake.ts'
import { cacheHints, page } from './lists.ts'
import { listen } from './notices.ts'
import { MAX_SUBSCRIPTIONS } from './session.ts'
import { isWrapped, promptResult, readResult, toolResult } from './shape.ts'
import { TaskRun } from './task-run.ts'
import { cancelTask, getTask, mayBecomeTask, updateTask } from './tasks.ts'
import { isSeverity, Turn } from './turn.ts'
import type { LiveCall, Origin } from '../core/call.ts'
import type { Tool, ToolResult } from '../core/tool.ts'
import type { Message } from '../wire/jsonrpc.ts'
import type { McpContext } from './context.ts'
import type { Link, Peer } from './link.ts'

/** A result, its JSON text, a promise of one of them, or nothing where the method answers by itself. */
type Result = object | string | undefined | Promise<object | string | undefined>

/** What comes of a tool: the result's JSON text, or the result that tells of its failure. */
type Outcome = object | string

type Method = (turn: Turn) => Result

const empty = '{}'
const noParams: Readonly<Record<string, unknown>> = Object.freeze({})

const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', () => empty],
  ['server/discover', discover],
  ['tools/list', (turn) => page(turn, 'tools')],
  ['tools/call', toolsCall],
  ['resources/list', (turn) => page(turn, 'resources')],
  ['resources/templates/list', (turn) => page(turn, 'resourceTemplates')],
  ['resources/read', resourcesRead],
  ['resources/subscribe', (turn) => subscription(turn, true)],
  ['resources/unsubscribe', (turn) => subscription(turn, false)],
  ['prompts/list', (turn) => page(turn, 'prompts')],
  ['prompts/get', promptsGet],
  ['completion/complete', completionComplete],
  ['logging/setLevel', setLevel],
  ['subscriptions/listen', listen],
  ['tasks/get', getTask],
  ['tasks/update', updateTask],
  ['tasks/cancel', cancelTask],
])

/** Answers one request, now or later. Never throws. The turn is returned for a disconnect to cancel. */
export function dispatch(
  mcp: McpContext, message: Message & { readonly kind: 'request' }, peer: Peer, origin: Origin, link: Link,
): Turn | undefined {
  const { id, method: name } = message
  const method = peer.revision.methods.has(name) && isOffered(mcp, name) ? methods.get(name) : undefined
  if (method === undefined) {
    const error = rpcError(METHOD_NOT_FOUND, `There is no method '${name}' in ${peer.revision.name} here`)
    link.finish(formatError(id, error), peer.revision.unknownMethodStatus)
    return undefined
  }
  const params = isRecord(message.params) ? message.params : noParams
  const metadata = isRecord(params['_meta']) ? params['_meta'] : noParams
  const turn = new Turn(mcp, peer, origin, link, id, params, metadata)
  try {
    const result = method(turn)
    if (!(result instanceof Promise)) settle(turn, result)
    else result.then((later) => settle(turn, later)).catch((error: unknown) => turn.fail(error))
  } catch (error) {
    turn.fail(error)
  }
  return turn
}

function settle(turn: Turn, result: object | string | undefined): void {
  if (result !== undefined) turn.succeed(result)
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

function stringParam(turn: Turn, name: string): string {
  const value = turn.params[name]
  if (typeof value === 'string') return value
  throw new Fault('invalid', `params.${name} must be a string`)
}

function toolsCall(turn: Turn): Result {
  const name = stringParam(turn, 'name')
  const { mcp, params } = turn
  const given = params['arguments']
  if (given !== undefined && !isRecord(given)) {
    throw new Fault('invalid', 'params.arguments must be an object')
  }
  const tool = mcp.tools.find(name)
  if (tool === undefined) throw new Fault('invalid', `Unknown tool: ${name}`)
  const args = given ?? {}
  const call = turn.call(['tools/call', name, args])
  if (!mayBecomeTask(turn, tool)) return runTool(turn, tool, args, call)
  turn.task = new TaskRun(turn, tool, call)
  return turn.task.run(() => runTool(turn, tool, args, call))
}

function runTool(turn: Turn, tool: Tool, args: unknown, call: LiveCall): Outcome | Promise<Outcome> {
  const { mcp, peer } = turn
  const wraps = isWrapped(tool)
  // Written at once: what JSON cannot say is the tool's failure like any other.
  const shaped = (result: ToolResult): string => turn.encode(toolResult(result, peer.revision, wraps))
  const failed = (error: unknown): object => toolFailure(turn, tool, error)
  try {
    const result = callTool(mcp.service, tool, args, call, peer.session?.workload)
    return result instanceof Promise ? result.then(shaped).catch(failed) : shaped(result)
  } catch (error) {
    return failed(error)
  }
}

/** What a model can mend, or should hear of, is a result; the rest is an error of the protocol. */
function toolFailure(turn: Turn, tool: Tool, error: unknown): object {
  const fault = asFault(error)
  const { kind } = fault
  const isClientLack = kind === 'unsupported' && isRecord(fault.detail) && 'ability' in fault.detail
  const isResult = kind === 'invalid' || kind === 'timeout' || kind === 'failed' || kind === 'internal'
    || (isClientLack && turn.peer.revision.ask === 'request')
  if (!isResult) throw fault
  const said = sentence(fault, turn.origin.requestId, turn.mcp.service.exposeErrors)
  return { content: [text(kind === 'timeout' ? `${tool.name}: ${said}` : said)], isError: true }
}

function resourcesRead(turn: Turn): Result {
  const uri = stringParam(turn, 'uri')
  const { mcp, peer } = turn
  const cache = peer.revision.stamps ? cacheHints(turn) : {}
  const contents = readResource(mcp.service, uri, turn.call(['resources/read', uri]), peer.session?.workload)
  return contents instanceof Promise
    ? contents.then((later) => ({ ...readResult(later), ...cache }))
    : { ...readResult(contents), ...cache }
}

function subscription(turn: Turn, isWanted: boolean): Result {
  const uri = stringParam(turn, 'uri')
  const { session } = turn.peer
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

function promptsGet(turn: Turn): Result {
  const name = stringParam(turn, 'name')
  const { mcp, params, peer } = turn
  const args = params['arguments'] ?? {}
  const call = turn.call(['prompts/get', name, args])
  const result = getPrompt(mcp.service, name, args, call, peer.session?.workload)
  return result instanceof Promise
    ? result.then((later) => promptResult(later, peer.revision))
    : promptResult(result, peer.revision)
}

function completionComplete(turn: Turn): Result {
  const { mcp, params, peer } = turn
  const { ref, argument, context } = params
  const call = turn.call()
  const result = complete(mcp.service, ref, argument, context, call, peer.session?.workload)
  return result instanceof Promise ? result.then((completion) => ({ completion })) : { completion: result }
}

function setLevel(turn: Turn): Result {
  const { level } = turn.params
  if (!isSeverity(level)) {
    throw new Fault('invalid', 'params.level must be a severity, from debug to emergency')
  }
  if (turn.peer.session !== undefined) turn.peer.session.logLevel = level
  return empty
}
