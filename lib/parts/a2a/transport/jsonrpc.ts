/**
 * The JSON-RPC binding: a body in, an answer in the same dialect out. An error is HTTP 200 unless the body
 * could not be read (400) or the request was refused.
 */
import { parseJson } from '../../../floors/bounds/parse-json.ts'
import { sentenceWithin } from '../../../kernel/wire/bounded.ts'
import {
  decodeMessage, errorReply, formatResult, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
} from '../../../floors/jsonrpc/jsonrpc.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { dialectFor, isSupported, rowOf } from '../codec/dialects.ts'
import { A2aFault } from '../model/faults.ts'
import { OperationCall } from './operation-call.ts'
import { versionOf } from '../model/dialect.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Fault, FaultKind } from '../../../kernel/define/fault.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Id, RpcError } from '../../../floors/jsonrpc/jsonrpc.ts'
import type { Row } from '../codec/dialects.ts'
import type { Version } from '../model/dialect.ts'
import type { WholeReply } from './operation-call.ts'
import type { A2aContext } from '../tasks/request.ts'

/** Faults that are refusals: the request, not the message, is what was wrong. */
const statuses: ReadonlyMap<FaultKind, number> = new Map([
  ['unauthenticated', 401], ['forbidden', 403], ['busy', 503], ['cancelled', 503],
])

export function answerJsonRpc(
  context: A2aContext, exchange: Exchange, agent: Agent | Group,
): MaybePromise<Reply> {
  const { maxDepth, maxObjects, maxNameBytes } = context.service.limits
  const parsed = parseJson(exchange.body, maxDepth, maxObjects)
  if (!parsed.ok) return refuseBody(exchange, null, PARSE_ERROR, parsed.why, 400)
  const message = decodeMessage(parsed.value, maxNameBytes)
  if (message.kind === 'malformed') {
    const isBatch = Array.isArray(parsed.value)
    const why = isBatch ? 'Batches are not taken; send one message per request' : message.why
    return refuseBody(exchange, message.id ?? null, INVALID_REQUEST, why)
  }
  if (message.kind === 'response') {
    const why = 'This is an answer; a request has a "method"'
    return refuseBody(exchange, message.id, INVALID_REQUEST, why)
  }
  // Without an id it would be a notification, but simple clients forget the id and wait for the answer.
  const id = message.kind === 'request' ? message.id : null
  const { method, params } = message
  const version = versionOf(exchange)
  const row = rowOf(method, params, version)
  if (row === undefined) return errorReply(id, unknownMethod(method, params, version), 200)
  return new JsonRpcCall(context, agent, exchange, row, id, params).reply()
}

/** Refuses what is no request, in the form of the version that its client asks for. */
function refuseBody(exchange: Exchange, id: Id, code: number, why: string, status = 200): Reply {
  return errorReply(id, dialectFor(versionOf(exchange)).encodeError(code, why), status)
}

class JsonRpcCall extends OperationCall {
  readonly #id: Id
  #params: unknown

  constructor(
    context: A2aContext, agent: Agent | Group, exchange: Exchange, { dialect, operation }: Row, id: Id,
    params: unknown,
  ) {
    super(context, agent, dialect, exchange, operation)
    this.#id = id
    this.#params = params
  }

  override readParams(): unknown {
    const params = this.#params
    // A stream lives as long as its call; the params need not.
    this.#params = undefined
    return params
  }

  override writeResult(result: string, headers: readonly string[]): Reply {
    return { status: 200, type: JSON_TYPE, headers, body: formatResult(this.#id, result) }
  }

  override writeEvent(result: string): string {
    return formatResult(this.#id, result)
  }

  override writeFault(fault: Fault, message: string): WholeReply {
    return errorReply(this.#id, this.dialect.encodeFault(fault, message), statuses.get(fault.kind) ?? 200)
  }
}

/** Why there is no row for a method: it is of another version, or there is no such method. */
function unknownMethod(method: string, params: unknown, version: Version): RpcError {
  const other = rowOf(method, params)
  if (version !== undefined && !isSupported(version)) {
    const said = `A2A ${sentenceWithin(version)} is not spoken here; send A2A-Version: 1.0 or 0.3`
    const dialect = other?.dialect ?? dialectFor('1.0')
    return dialect.encodeFault(new A2aFault('VERSION_NOT_SUPPORTED', said), said)
  }
  const dialect = dialectFor(version)
  if (other !== undefined) {
    return dialect.encodeError(METHOD_NOT_FOUND, `A2A ${dialect.version} has no method '${method}'; `
      + `it is of A2A ${other.dialect.version}: send that as A2A-Version, or leave the header out`)
  }
  return dialect.encodeError(METHOD_NOT_FOUND, `There is no method '${method}' here; `
    + 'a message is sent with SendMessage (A2A 1.0) or message/send (before)')
}
