/** How tools of other frameworks are called, and asked whether a call needs the approval of a user. */
import { isContent, isRecord } from '../../kernel/define/content.ts'
import { Fault } from '../../kernel/define/fault.ts'
import { isBareResult } from '../../kernel/define/tool.ts'
import { formatJson } from '../../kernel/wire/json.ts'
import { askApproval } from './approval.ts'
import { membersOf, readMember } from './shape.ts'
import { approvalNames, functionIn } from './tools.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { ToolFramework } from './tools.ts'

/** How a tool of one framework is called: its members are called as its own. */
interface Caller {
  /** Its result, now or later, in a form that a `run` returns. */
  call(theirs: Theirs, args: unknown, call: Call): unknown
  /** Whether a call needs an approval; it may be a promise. Left out: none does. */
  asks?(theirs: Theirs, args: unknown, call: Call): unknown
}

type Theirs = Readonly<Record<string, (...args: unknown[]) => unknown>>

/** Calls a tool, after an approval where it needs one. Throws what the tool throws. */
export async function callForeign(
  framework: ToolFramework, name: string, tool: object, args: unknown, call: Call,
): Promise<unknown> {
  const theirs = tool as Theirs
  const caller = callers[framework]
  if (await caller.asks?.(theirs, args, call)) {
    if (!call.can('elicit')) {
      throw new Fault('unsupported', `The tool '${name}' needs the approval of a user, whom this client `
        + 'cannot ask')
    }
    const isApproved = await askApproval(call, undefined, name, args)
    if (!isApproved) return { isError: true, content: [`The user did not approve '${name}'`] }
  }
  const result = await caller.call(theirs, args, call)
  // Any object is data, but for content and for a whole result.
  if (!isRecord(result) || isContent(result)) return result
  return Array.isArray(result['content']) && isBareResult(result) ? result : { structuredContent: result }
}

const optionsOf = (call: Call): object => ({
  toolCallId: call.requestId, messages: [], abortSignal: call.signal, signal: call.signal,
})

/** A flag, or a function that is called. */
function flagOf(theirs: Theirs, member: string, ...args: unknown[]): unknown {
  const flag: unknown = theirs[member]
  return typeof flag === 'function' ? theirs[member]!(...args) : flag
}

const callers: Readonly<Record<ToolFramework, Caller>> = {
  adk: {
    asks: (theirs, args) => flagOf(theirs, 'requireConfirmation', args, {}),
    call: (theirs, args, call) => theirs['runAsync']!({
      args,
      toolContext: {
        actions: {}, state: new Map(), abortSignal: call.signal, toolConfirmation: { confirmed: true },
      },
    }),
  },
  genkit: {
    call: (theirs, args, call) => (theirs as unknown as (...given: unknown[]) => unknown)(
      args, { abortSignal: call.signal },
    ),
  },
  langchain: { call: (theirs, args, call) => theirs['invoke']!(args, { signal: call.signal }) },
  openai: {
    asks: (theirs, args, call) => flagOf(theirs, 'needsApproval', { context: {} }, args, call.requestId),
    async call(theirs, args, call) {
      const details = { signal: call.signal }
      const result = await theirs['invoke']!({ context: {} }, formatJson(args), details)
      const isFailure = typeof result === 'string' && openaiFailure.test(result)
      return isFailure ? { isError: true, content: [result] } : result
    },
  },
  mastra: {
    asks: (theirs, args) => flagOf(
      theirs, theirs['needsApprovalFn'] === undefined ? 'requireApproval' : 'needsApprovalFn', args, {},
    ),
    async call(theirs, args, call) {
      const writer = writerOf(call)
      // Version 1 gets the arguments by themselves.
      const result = await (isOne(theirs)
        ? theirs['execute']!(args, { abortSignal: call.signal, writer })
        : theirs['execute']!({ context: args, writer }, { abortSignal: call.signal }))
      const isFailure = readMember(result, 'error') === true
        && readMember(result, 'validationErrors') !== undefined
      return isFailure ? { isError: true, content: [String(readMember(result, 'message'))] } : result
    },
  },
  aiSdk: {
    asks: (theirs, args, call) => flagOf(theirs, 'needsApproval', args, optionsOf(call)),
    call: (theirs, args, call) => lastOf(theirs['execute']!(args, optionsOf(call)), call),
  },
  strands: {
    call: (theirs, args, call) => theirs['invoke']!(args, {
      toolUse: { name: String(theirs['name']), toolUseId: call.requestId, input: args },
      invocationState: {}, cancelSignal: call.signal,
    }),
  },
  voltAgent: {
    asks: (theirs, args, call) => flagOf(theirs, 'needsApproval', args, optionsOf(call)),
    call: (theirs, args, call) => lastOf(theirs['execute']!(args, {
      abortController: { signal: call.signal, abort() {} },
      toolContext: {
        name: String(theirs['name']), callId: call.requestId, messages: [], abortSignal: call.signal,
      },
    }), call),
  },
  llamaIndex: { call: (theirs, args) => theirs['call']!(args) },
  anthropic: {
    call: async (theirs, args, call) => anthropicResult(
      await theirs['run']!(theirs['parse']!(args), { signal: call.signal }),
    ),
  },
  claude: { call: (theirs, args, call) => theirs['handler']!(args, { signal: call.signal }) },
  any: {
    async asks(theirs, args, call) {
      for (const member of approvalNames) {
        if (await flagOf(theirs, member, args, optionsOf(call))) return true
      }
      return false
    },
    call: (theirs, args, call) => (
      lastOf(theirs[functionIn(membersOf(theirs))!]!(args, optionsOf(call)), call)
    ),
  },
}

/** A failure that looks like a result. */
const openaiFailure = /^An error occurred while running the tool\.|^Tool '.{1,200}' timed out after \d+ms\.$/

/** Version 1 of Mastra marks its tools, or has a member that version 0 has not. */
function isOne(theirs: object): boolean {
  return 'requestContextSchema' in theirs || Symbol.for('mastra.core.tool.Tool') in theirs
}

/** What tools of Mastra write to while they run. */
function writerOf(call: Call): object {
  let count = 0
  const write = (chunk: unknown): void => call.progress(++count, undefined, textOfPiece(chunk))
  return { write: async (chunk: unknown) => write(chunk), custom: async (chunk: unknown) => write(chunk) }
}

function textOfPiece(piece: unknown): string {
  return typeof piece === 'string' ? piece : formatJson(piece) ?? ''
}

/** Of a generator the last piece is the result, those before it are progress. */
async function lastOf(result: unknown, call: Call): Promise<unknown> {
  const whole = await result
  if (typeof whole !== 'object' || whole === null || !(Symbol.asyncIterator in whole)) return whole
  let count = 0
  let last: unknown
  for await (const piece of whole as AsyncIterable<unknown>) {
    call.signal.throwIfAborted()
    if (count > 0) call.progress(count, undefined, textOfPiece(last))
    count++
    last = piece
  }
  return last
}

/** Its pictures are blocks of another form. */
function anthropicResult(result: unknown): unknown {
  if (!Array.isArray(result)) return result
  return result.map((block: unknown) => {
    const source = readMember(block, 'source')
    const data = readMember(source, 'data')
    return readMember(block, 'type') === 'image' && data !== undefined
      ? { type: 'image', data, mimeType: readMember(source, 'media_type') } : block
  })
}
