/**
 * The HTTP+JSON binding of A2A 1.0: path, body and query, in this order, give the params of an operation, and
 * its result is the answer, without an envelope. Spec: A2A 1.0 §11.
 */
import { parseJson } from '../../../floors/bounds/parse-json.ts'
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { sentenceWithin } from '../../../kernel/wire/bounded.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { isSupported } from '../codec/dialects.ts'
import { A2aFault } from '../model/faults.ts'
import { wrongField } from '../model/fields.ts'
import { OperationCall } from './operation-call.ts'
import { v1 } from '../codec/v1.ts'
import { encodeHttpFault } from '../codec/errors.ts'
import { jsonTypeFor, versionOf } from '../model/dialect.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Route } from './http-json-routes.ts'
import type { WholeReply } from './operation-call.ts'
import type { A2aContext } from '../tasks/request.ts'

// An answer is for its caller alone.
const unkept: readonly string[] = Object.freeze(['Cache-Control', 'private, no-store'])

export function answerHttpJson(
  context: A2aContext, exchange: Exchange, agent: Agent | Group, route: Route,
): MaybePromise<Reply> {
  return new HttpJsonCall(context, agent, route, exchange).reply()
}

/** A request whose params stand in its path, query and body. */
class HttpJsonCall extends OperationCall {
  readonly #route: Route

  constructor(context: A2aContext, agent: Agent | Group, route: Route, exchange: Exchange) {
    super(context, agent, v1, exchange, route.operation)
    this.#route = route
  }

  override readParams(): unknown {
    requireVersion(this.exchange)
    const { query, params: names } = this.exchange
    const params: Record<string, unknown> = { ...readQuery(query, this.#route.query), ...this.#readBody() }
    for (const [name, text] of names) if (name !== 'agent') params[name] = text
    return params
  }

  #readBody(): object | undefined {
    const { body } = this.#route
    const text = this.exchange.body
    const { maxDepth, maxObjects } = this.context.service.limits
    if (body === undefined || (body === 'optional' && text === '')) return undefined
    const parsed = parseJson(text, maxDepth, maxObjects)
    if (!parsed.ok) throw new Fault('invalid', parsed.why)
    if (isRecord(parsed.value)) return parsed.value
    if (body === 'optional' && parsed.value === null) return undefined
    throw new Fault('invalid', 'The body must be a JSON object')
  }

  override writeResult(result: string, headers: readonly string[]): Reply {
    const all = headers.length === 0 ? unkept : [...unkept, ...headers]
    // Official clients take no other status, and one reads an object where there is no result.
    const body = this.#route.operation === 'push-delete' ? '{}' : result
    return { status: 200, type: jsonTypeFor(this.exchange.head), headers: all, body }
  }

  override writeEvent(result: string): string {
    return result
  }

  override writeFault(fault: Fault, message: string): WholeReply {
    const { status, body } = encodeHttpFault(fault, message)
    return { status, type: jsonTypeFor(this.exchange.head), headers: unkept, body: formatJson(body) }
  }
}

/** These paths are of 1.0, which a client need not name. */
function requireVersion(exchange: Exchange): void {
  const version = versionOf(exchange)
  if (version === undefined || version === v1.version) return
  const remedy = isSupported(version) ? `, or ${version} as JSON-RPC to /a2a` : ''
  throw new A2aFault('VERSION_NOT_SUPPORTED',
    `A2A ${sentenceWithin(version)} is not spoken at this path; send A2A-Version: ${v1.version}${remedy}`)
}

/** The members in a query, with their names of JSON or of the protobuf definition. An empty one is none. */
function readQuery(query: string, types: Route['query']): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {}
  if (query === '') return members
  for (const [given, text] of new URLSearchParams(query)) {
    const name = given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (text === '' || name !== 'tenant' && !Object.hasOwn(types, name)) continue
    if (Object.hasOwn(members, name)) {
      throw wrongField('params', name, 'must stand in the query once; leave the others out')
    }
    members[name] = types[name] === 'boolean' ? booleanOf(text) : text
  }
  return members
}

/** The codec refuses anything else. */
function booleanOf(text: string): boolean | string {
  return text === 'true' ? true : text === 'false' ? false : text
}
