/**
 * The JSON-RPC binding: a body in, the answer of the dialect it is written in out.
 *
 * Knows envelopes, ids, statuses and the one catch; what a method takes and gives is the dialect's.
 * An error is HTTP 200 unless the body could not be read (400) or the request was refused.
 */
import { asFault, Fault, sentence } from '../core/fault.ts'
import { sentenceWithin } from '../wire/bounded.ts'
import { formatChallenge } from '../wire/challenge.ts'
import { parseJson } from '../wire/json.ts'
import {
  decodeMessage, errorReply, formatError, formatResult, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND,
  PARSE_ERROR, refusalError, rpcError,
} from '../wire/jsonrpc.ts'
import { JSON_TYPE } from '../wire/media.ts'
import { EVENT_STREAM, formatEvent } from '../wire/sse.ts'
import { dialectFor, isSpoken, methodNames, rowOf, versionOf } from './dialects.ts'
import { extensionHeaders, requestedExtensions } from './extensions.ts'
import { A2aFault } from './faults.ts'
import { operations } from './operations.ts'
import type { Agent, Group } from '../core/agent.ts'
import type { FaultKind } from '../core/fault.ts'
import type { Service } from '../core/service.ts'
import type { MaybePromise } from '../core/store.ts'
import type { Exchange, Refusal, Reply } from '../http/exchange.ts'
import type { Id, RpcError } from '../wire/jsonrpc.ts'
import type { OperationCodec } from './dialect.ts'
import type { Version } from './dialects.ts'
import type { OperationName } from './model.ts'
import type { A2aContext, EventStream, Visit } from './visit.ts'

/** Faults that are refusals: the request, not the message, is what was wrong. */
const statuses: ReadonlyMap<FaultKind, number> = new Map([
  ['unauthenticated', 401], ['forbidden', 403], ['busy', 503], ['cancelled', 503],
])

/** A refusal made before the message was read. */
export function refuseMessage(refusal: Refusal): Reply {
  return errorReply(null, refusalError(refusal), refusal.status, refusal.headers)
}

/** Answers one body that was sent to an agent or a group. */
export function receive(context: A2aContext, who: Agent | Group, exchange: Exchange): MaybePromise<Reply> {
  const { service, options, seal } = context
  const { maxDepth, maxNameBytes } = service.limits
  const parsed = parseJson(exchange.body, maxDepth)
  if (!parsed.ok) return errorReply(null, rpcError(PARSE_ERROR, parsed.why), 400)
  const message = decodeMessage(parsed.value, maxNameBytes)
  if (message.kind === 'malformed') {
    const isBatch = Array.isArray(parsed.value)
    const why = isBatch ? 'Batches are not taken; send one message per request' : message.why
    return errorReply(message.id ?? null, rpcError(INVALID_REQUEST, why), 200)
  }
  if (message.kind === 'response') {
    const why = 'This is an answer; a request has a "method"'
    return errorReply(message.id, rpcError(INVALID_REQUEST, why), 200)
  }
  // Without an id it would be a notification, but simple clients forget the id and wait for the answer.
  const id = message.kind === 'request' ? message.id : null
  const { method, params } = message
  const version = versionOf(exchange)
  const row = rowOf(method, params, version)
  if (row === undefined || !row.dialect.operations[row.operation]) {
    return errorReply(id, unknownMethod(method, params, version), 200)
  }
  const { dialect, operation } = row
  const extensions = requestedExtensions(exchange.origin)
  const visit = { service, options, seal, who, dialect, exchange, extensions }
  return answered(visit, operation, params, id)
}

/** The answer of one operation, and the one catch of a message. */
export function answered(
  visit: Visit, operation: OperationName, params: unknown, id: Id,
): MaybePromise<Reply> {
  const { service, dialect } = visit
  // The table of operations and the codecs of a dialect have the same types under the same name.
  const codec = dialect.operations[operation] as OperationCodec<unknown, unknown>
  const act = operations[operation] as (visit: Visit, request: unknown) => unknown
  const done = (result: unknown): Reply => {
    if (isStream(result)) return streamReply(visit, codec, id, result)
    const body = bounded(service, JSON.stringify(codec.encodeResult(result)))
    return { status: 200, type: JSON_TYPE, headers: extensionHeaders(visit), body: formatResult(id, body) }
  }
  const failed = (error: unknown): Reply => faultReply(visit, operation, id, error)
  try {
    const result = act(visit, codec.decodeRequest(params, service.limits.maxNameBytes))
    return result instanceof Promise ? result.then(done).catch(failed) : done(result)
  } catch (error) {
    return failed(error)
  }
}

function isStream(result: unknown): result is EventStream {
  return typeof result === 'object' && result !== null && 'open' in result
}

function bounded({ limits: { maxResultBytes } }: Service, result: string): string {
  if (Buffer.byteLength(result) <= maxResultBytes) return result
  throw new Fault('too-large', `The reply is larger than ${maxResultBytes} bytes`)
}

/** Events one by one, each in an envelope of its own. */
function streamReply(
  visit: Visit, codec: OperationCodec<unknown, unknown>, id: Id, events: EventStream,
): Reply {
  return {
    status: 200,
    type: EVENT_STREAM,
    headers: extensionHeaders(visit),
    body: {
      open: (sink) => events.open({
        get closed() { return sink.closed },
        send: (event) => sink.write(formatEvent(formatResult(id, JSON.stringify(codec.encodeResult(event))))),
        ready: () => sink.ready(),
        end(thrown) {
          if (thrown === undefined) return sink.end()
          sink.end(formatEvent(formatError(id, errorOf(visit, thrown).error), 'error'))
        },
      }),
    },
  }
}

function faultReply(visit: Visit, operation: OperationName, id: Id, thrown: unknown): Reply {
  const { fault, error } = errorOf(visit, thrown)
  const status = statuses.get(fault.kind) ?? 200
  if (status === 200 && operation === 'subscribe' && visit.dialect.subscribesInEvents) {
    return { status, type: EVENT_STREAM, body: formatEvent(formatError(id, error), 'error') }
  }
  return errorReply(id, error, status, headersFor(status, visit.service.name))
}

/** What was thrown, as an error of the dialect. */
function errorOf(
  { service, dialect, exchange: { origin: { requestId } } }: Visit, thrown: unknown,
): { readonly fault: Fault; readonly error: RpcError } {
  const fault = asFault(thrown)
  // A handler's defect was logged where it ran; what has no Fault yet came of saying what it returned.
  if (fault !== thrown) {
    service.log('error', 'A message could not be answered', { request: requestId, cause: thrown })
  }
  const said = sentence(fault, requestId, service.exposeErrors)
  try {
    const error = dialect.encodeFault(fault, said)
    JSON.stringify(error)
    return { fault, error }
  } catch (cause) {
    service.log('error', 'The detail of a Fault is not JSON', { request: requestId, cause })
    return { fault, error: dialect.encodeFault(new Fault(fault.kind, fault.message), said) }
  }
}

/** What a status asks for besides its body. */
function headersFor(status: number, realm: string): readonly string[] | undefined {
  if (status === 503) return ['Retry-After', '1']
  if (status !== 401) return undefined
  return ['WWW-Authenticate', formatChallenge({ realm })]
}

/** Why there is no row for a method: its version, its shape, or there is no such method. */
function unknownMethod(method: string, params: unknown, version: Version): RpcError {
  const other = rowOf(method, params)
  if (version !== undefined && !isSpoken(version)) {
    const said = `A2A ${sentenceWithin(version)} is not spoken here; send A2A-Version: 1.0 or 0.3`
    const dialect = other?.dialect ?? dialectFor('1.0')
    return dialect.encodeFault(new A2aFault('VERSION_NOT_SUPPORTED', said), said)
  }
  const dialect = dialectFor(version)
  if (other !== undefined) {
    return dialect.encodeError(METHOD_NOT_FOUND, `A2A ${dialect.version} has no method '${method}'; `
      + `it is of A2A ${other.dialect.version}: send that as A2A-Version, or leave the header out`)
  }
  if (methodNames.includes(method)) {
    return rpcError(INVALID_PARAMS, `The params of ${method} are in a form of A2A that is not spoken here; `
      + `send { "message": { "role": "user", "parts": [{ "type": "text", "text": "hello" }] } }`)
  }
  return dialect.encodeError(METHOD_NOT_FOUND, `There is no method '${method}' here; `
    + 'a message is sent with SendMessage (A2A 1.0) or message/send (before)')
}
