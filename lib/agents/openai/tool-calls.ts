/**
 * The tools that a model calls while it answers: a call of a function in, the text for the model out. Each
 * tool runs in a call of its own, so that its time limit ends nothing else.
 */
import { createHash } from 'node:crypto'
import { frameworks } from '../../adapters/frameworks.ts'
import { hasOutgoing, outgoingOf, setOutgoing } from '../../floors/outbound/outgoing.ts'
import { runTool } from '../../kernel/run/call-tool.ts'
import { show } from '../../kernel/define/validate.ts'
import { asFault, Fault } from '../../kernel/define/fault.ts'
import { LiveCall } from '../../kernel/define/live-call.ts'
import { requireScopes } from '../../kernel/define/principal.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { lineOf } from './message-parts.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { Question } from '../../kernel/define/question.ts'
import type { Tool, ToolResult } from '../../kernel/define/tool.ts'
import type { FunctionCall, Model } from './openai-completion.ts'

/** What became of a call: the text for the model, and the value where the tool gave one. */
interface Outcome { readonly text: string; readonly value?: unknown; readonly isError: boolean }

export class ToolCalls {
  readonly #model: Model
  readonly #call: Call
  /** How often each tool was called with the same arguments. */
  readonly #counts = new Map<string, number>()
  /** The ids of its events; some endpoints begin anew in each round. */
  readonly #ids = new Set<string>()

  constructor(model: Model, call: Call) {
    this.#model = model
    this.#call = call
  }

  /** Resolves to a result or an error as text. Rejects only when the agent's own call has ended. */
  async run(asked: FunctionCall): Promise<string> {
    this.#call.signal.throwIfAborted()
    const { name, input, written } = asked
    const { tools } = this.#model
    const tool = tools.get(name)
    const id = this.#unused(asked.id)
    this.#call.event({ type: 'tool-call', id, name: tool?.name ?? name, args: input ?? written })
    const { text, value = text, isError } = await this.#outcomeOf(asked, tool)
    this.#call.event({ type: 'tool-result', id, result: value, isError })
    return text
  }

  async #outcomeOf({ name, input, written }: FunctionCall, tool: Tool | undefined): Promise<Outcome> {
    const { tools, maxToolResultBytes, log } = this.#model
    const failed = (text: string): Outcome => ({ text: cut(text, maxToolResultBytes), isError: true })
    if (tool === undefined) {
      const known = [...tools.keys()].join(', ') || 'none'
      return { text: `There is no tool ${show(name)}; use ${known}`, isError: true }
    }
    if (input === undefined) {
      return { text: `The arguments are not a JSON object: ${show(written)}`, isError: true }
    }
    try {
      requireScopes(this.#call, tool.scopes)
      const call = this.#callOf(`${tool.name} ${formatJson(input)}`)
      const { limits } = call.host
      const ms = tool.timeoutMs ?? limits.toolTimeoutMs
      const work = async (): Promise<ToolResult> => runTool({ tool, args: input, call, limits })
      const result = await within(call, ms, this.#call.signal, work)
      const { structuredContent: value, isError = false } = result
      return { text: cut(textFor(result), maxToolResultBytes), value, isError }
    } catch (error) {
      if (this.#call.signal.aborted) throw this.#call.signal.reason
      const fault = asFault(error)
      if (fault.kind !== 'internal') return failed(fault.message)
      const cause = fault.cause ?? fault
      log('error', 'A tool failed', { request: this.#call.requestId, tool: tool.name, cause })
      return failed('The tool failed')
    }
  }

  #unused(given: string): string {
    let id = given
    for (let count = 2; this.#ids.has(id); count++) id = `${given}-${count}`
    this.#ids.add(id)
    return id
  }

  /** A call that ends by itself. Its progress, logs and questions go through the agent's call. */
  #callOf(subject: string): LiveCall {
    const call = this.#call
    const digest = createHash('sha256').update(subject).digest('base64url').slice(0, 16)
    const count = (this.#counts.get(digest) ?? 0) + 1
    this.#counts.set(digest, count)
    // Keys are the tool's own, and a model may call it twice within one call of the agent's.
    const keyOf = (key: string): string => `${digest}-${count}-${key}`
    const { requestId, principal, headers } = call
    const header = (name: string): string | undefined => headers.get(name)
    const inner = new LiveCall({ requestId, principal, headers, header, onDisconnect: () => {} }, call, {
      can: (what) => call.can(what),
      progress: (_done, _total, text) => {
        if (text !== undefined && call instanceof LiveCall) call.step(text)
      },
      event: (event) => call.event(event),
      log: (level, data, logger) => call.log(level, data, logger),
      ask: (question) => ask(call, question.key === undefined ? question
        : { ...question, key: keyOf(question.key) }),
      once: (key, fn) => call.once(keyOf(key), fn),
      detach: (retryMs) => call.detach(retryMs === undefined ? {} : { retryMs }),
      completeElicitation: (elicitationId) => call.completeElicitation(elicitationId),
      artifact: (artifact) => call.artifact(artifact),
    })
    inner.history = call.history
    // An author may have made the call; its tools are defined with all frameworks.
    const { limits, around } = call instanceof LiveCall ? call.host : inner.host
    inner.host = { limits, around, adapters: frameworks }
    if (call instanceof LiveCall && hasOutgoing(call)) setOutgoing(inner, outgoingOf(call))
    return inner
  }
}

function ask(call: Call, question: Question): Promise<unknown> {
  if (question.what === 'sample') return call.sample(question)
  return question.what === 'roots' ? call.roots(question) : call.elicit(question)
}

/** Waits for a tool until its time is over, or the agent's call is. What comes later is dropped. */
function within<T>(call: LiveCall, ms: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => call.cancel(new Fault('cancelled', 'The call is over'))
    const settle = (): void => {
      signal.removeEventListener('abort', leave)
      call.clock.clear()
      call.over = true
    }
    call.onCancel((reason) => {
      settle()
      reject(reason)
    })
    call.clock.limit(ms, () => call.cancel(new Fault('timeout', `No result within ${ms} ms`)))
    signal.addEventListener('abort', leave)
    work().finally(settle).then(resolve, reject)
  })
}

/** A result as text: a note for each file, and structured content as JSON. */
function textFor({ content, structuredContent }: ToolResult): string {
  const lines = content.map(lineOf)
  const json = structuredContent === undefined ? undefined : formatJson(structuredContent)
  if (json !== undefined && !lines.includes(json)) lines.push(json)
  return lines.join('\n') || 'The tool returned nothing'
}

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes))
  return `${text.slice(0, read)}\n[cut off: the first ${maxBytes} of ${bytes} bytes]`
}
