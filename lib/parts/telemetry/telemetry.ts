/**
 * Spans and metrics of calls, on the operator's own OpenTelemetry API.
 * Spec: OpenTelemetry semantic conventions for generative AI agents and MCP; W3C Trace Context.
 */
import { hasOutgoing, outgoingOf, setOutgoing } from '../../floors/outbound/outgoing.ts'
import { asFault } from '../../kernel/define/fault.ts'
import { LiveCall } from '../../kernel/define/live-call.ts'
import { isToolError } from '../../kernel/run/call-observer.ts'
import type { Around, AroundCall } from '../../kernel/define/around.ts'
import type { Call, Trace } from '../../kernel/define/call.ts'
import type { Usage } from '../../kernel/define/event.ts'
import type { Traced } from '../../kernel/run/service.ts'

type Attributes = Record<string, string | number | boolean>

interface Span {
  setAttributes(attributes: Attributes): unknown
  setStatus(status: { code: number; message?: string }): unknown
  recordException(exception: Error): unknown
  end(): void
}

interface Tracer { startSpan(name: string, options: object, context: unknown): Span }

interface Meter { createHistogram(name: string, options: object): Histogram }

interface Histogram { record(value: number, attributes?: Attributes): void }

/** `@opentelemetry/api`, as far as it is used. */
export interface OpenTelemetry {
  readonly trace: {
    getTracer(name: string, version?: string): Tracer
    getSpan(context: never): unknown
    setSpan(context: never, span: never): unknown
  }
  readonly context: { active(): unknown; with(context: never, run: () => unknown): unknown }
  readonly propagation: {
    extract(context: never, carrier: object): unknown
    inject(context: never, carrier: object): void
  }
  readonly metrics: { getMeter(name: string, version?: string): Meter }
}

/** Values of `SpanKind`. */
const INTERNAL = 0
const SERVER = 1
const CLIENT = 2
/** Of `SpanStatusCode`. */
const ERROR = 2

/** In seconds, as the conventions advise. */
const BUCKETS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const TOKEN_BUCKETS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304]

/** The method of MCP for a kind of thing, its operation of generative AI, and the attribute of its name. */
type Naming = readonly [method: string, operation?: string | undefined, name?: string]

const kinds: Readonly<Record<AroundCall['kind'], Naming>> = {
  'agent': ['tools/call', 'invoke_agent', 'gen_ai.agent.name'],
  'group': ['tools/call', 'invoke_workflow', 'gen_ai.workflow.name'],
  'tool': ['tools/call', 'execute_tool', 'gen_ai.tool.name'],
  'prompt': ['prompts/get', undefined, 'gen_ai.prompt.name'],
  'resource': ['resources/read'],
  'resource-template': ['resources/read'],
  'completion': ['completion/complete'],
}

/** Makes a function around each call that measures it, and runs it within its span. */
export function telemetryOf(api: OpenTelemetry, version: string): Around {
  const { trace, context, metrics } = api
  const tracer = trace.getTracer('triport', version)
  const meter = metrics.getMeter('triport', version)
  const durations = (name: string, description: string): Histogram => meter.createHistogram(name, {
    description, unit: 's', advice: { explicitBucketBoundaries: BUCKETS },
  })
  const ofMcp = durations('mcp.server.operation.duration', 'How long requests of MCP took')
  const ofAgents = durations('gen_ai.client.operation.duration', 'How long agents and tools took')
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Tokens that were used', unit: '{token}',
    advice: { explicitBucketBoundaries: TOKEN_BUCKETS },
  })
  /** The spans of groups: their members have calls of their own, and share the signal. */
  const contexts = new WeakMap<AbortSignal, unknown>()

  return async (called, next) => {
    const { call, kind } = called
    const outer = contexts.get(call.signal)
    const isInner = outer !== undefined || hasOutgoing(call)
    const parent = parentIn(api, hasOutgoing(call) ? outgoingOf(call) : call.trace, outer)
    const attributes = attributesOf(called)
    const spanKind = isInner ? INTERNAL : SERVER
    const span = tracer.startSpan(spanName(called), { kind: spanKind, attributes }, parent)
    const within = trace.setSpan(parent as never, span as never)
    if (!isInner) contexts.set(call.signal, within)
    setOutgoing(call, headersOf(api, within))
    const before = usageOf(call)
    const begunAt = performance.now()
    let failure: string | undefined
    try {
      const result = await context.with(within as never, next)
      if (isToolError(result)) failure = 'tool_error'
      return result
    } catch (error) {
      const fault = asFault(error)
      failure = fault.kind
      const cause = fault.cause ?? fault
      if (cause instanceof Error) span.recordException(cause)
      throw error
    } finally {
      const seconds = (performance.now() - begunAt) / 1_000
      const outcome = { ...attributes, ...failure !== undefined && { 'error.type': failure } }
      const used = usedSince(before, usageOf(call))
      if (failure !== undefined) {
        span.setStatus({ code: ERROR, message: failure })
        span.setAttributes({ 'error.type': failure })
      }
      if (used !== undefined) {
        span.setAttributes({
          'gen_ai.usage.input_tokens': used.inputTokens, 'gen_ai.usage.output_tokens': used.outputTokens,
        })
      }
      span.end()
      const measured = fewValued(outcome)
      if (call.protocol === 'mcp' && !isInner) ofMcp.record(seconds, measured)
      if (kinds[kind][1] !== undefined) ofAgents.record(seconds, measured)
      if (used !== undefined && !isInner) {
        tokens.record(used.inputTokens, { ...measured, 'gen_ai.token.type': 'input' })
        tokens.record(used.outputTokens, { ...measured, 'gen_ai.token.type': 'output' })
      }
    }
  }
}

/** What is active, else `outer`, else where a request came from. */
function parentIn({ trace, context, propagation }: OpenTelemetry, from: Trace, outer?: unknown): unknown {
  const active = context.active()
  if (trace.getSpan(active as never) !== undefined) return active
  return outer ?? propagation.extract(active as never, from)
}

function headersOf({ propagation }: OpenTelemetry, within: unknown): Readonly<Record<string, string>> {
  const carrier: Record<string, string> = {}
  propagation.inject(within as never, carrier)
  return carrier
}

/** As `Traced`. The address is not in the span: it may be secret. */
export async function postTraced<T extends { readonly status: number }>(
  api: OpenTelemetry, version: string, { url, trace }: Parameters<Traced>[0],
  post: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const parent = parentIn(api, trace)
  const { hostname, port, protocol } = new URL(url)
  const attributes = {
    'http.request.method': 'POST', 'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  }
  const tracer = api.trace.getTracer('triport', version)
  const span = tracer.startSpan('POST', { kind: CLIENT, attributes }, parent)
  let failure: string | undefined = 'error'
  try {
    const answer = await post(headersOf(api, api.trace.setSpan(parent as never, span as never)))
    failure = answer.status < 400 ? undefined : String(answer.status)
    span.setAttributes({ 'http.response.status_code': answer.status })
    return answer
  } finally {
    if (failure !== undefined) {
      span.setStatus({ code: ERROR })
      span.setAttributes({ 'error.type': failure })
    }
    span.end()
  }
}

function spanName({ kind, name, call }: AroundCall): string {
  const [method, operation] = kinds[kind]
  const isOperation = operation !== undefined && (call.protocol !== 'mcp' || kind !== 'tool')
  return `${isOperation ? operation : method} ${name}`
}

function attributesOf({ kind, name, input, call }: AroundCall): Attributes {
  const [method, operation, nameAttribute] = kinds[kind]
  const uri: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'uri') : undefined
  return {
    ...operation !== undefined && { 'gen_ai.operation.name': operation },
    ...nameAttribute !== undefined && { [nameAttribute]: name },
    ...call.protocol === 'mcp' && {
      'mcp.method.name': method,
      ...call.sessionId !== undefined && { 'mcp.session.id': call.sessionId },
    },
    ...call.protocol !== 'mcp' && call.sessionId !== undefined && {
      'gen_ai.conversation.id': call.sessionId,
    },
    ...typeof uri === 'string' && { 'mcp.resource.uri': uri },
    'triport.protocol': call.protocol,
    'triport.request.id': call.requestId,
  }
}

/** Attributes of a span that have too many values for a metric. */
const many: ReadonlySet<string> = new Set([
  'mcp.session.id', 'gen_ai.conversation.id', 'mcp.resource.uri', 'triport.request.id',
])

function fewValued(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !many.has(name)))
}

function usageOf(call: Call): Usage | undefined {
  return call instanceof LiveCall ? call.usage : undefined
}

/** Undefined where nothing was counted in between. */
function usedSince(before: Usage | undefined, after: Usage | undefined): Usage | undefined {
  if (after === undefined || after === before) return undefined
  return {
    inputTokens: after.inputTokens - (before?.inputTokens ?? 0),
    outputTokens: after.outputTokens - (before?.outputTokens ?? 0),
  }
}
