/**
 * Decodes the body of a response. Items become messages as chat completions have them, so that both read a
 * conversation in one way. Throws `Fault('invalid')` with `param` and `code`.
 * Spec: Open Responses 2026-04-24, Items; https://platform.openai.com/docs/api-reference/responses/create
 */
import { givenMembers, isGiven, isRecord } from '../../../kernel/define/content.ts'
import { nameIn, wrongBody, wrongMember } from '../../../floors/chat/members.ts'
import { decodeMessages } from '../../../floors/chat/messages.ts'
import { PassedOver } from '../../../floors/chat/passed-over.ts'
import { chosenTools, decodeTools, mostCalls, nameWithin } from '../client-functions.ts'
import { blockOfPart, isTextPart } from '../content-parts.ts'
import { decodeFormat } from '../output-format.ts'
import { never, refuseMembers } from '../refused-members.ts'
import { OtherCalls } from './other-calls.ts'
import type { JsonBounds } from '../../../floors/bounds/parse-json.ts'
import type { ClientTool, ToolChoice } from '../../../kernel/define/client-tool.ts'
import type { OutputFormat } from '../output-format.ts'
import type { RefusedMember } from '../refused-members.ts'
import type { ChatDialect, Conversation } from '../../../floors/chat/messages.ts'

export type ResponseItem = Readonly<Record<string, unknown>>

/** Reads compactions. */
export interface CompactionOpener {
  /** The items that one stands for; `at` says where it is. Throws `Fault('invalid')`. */
  open(item: ResponseItem, at: string): readonly ResponseItem[]
}

export interface ResponseRequest {
  /** The body, of which some members are shown again. */
  readonly body: ResponseItem
  readonly model: string
  /** The items of this request. */
  readonly input: readonly ResponseItem[]
  readonly instructions: string | undefined
  readonly previousId: string | undefined
  readonly clientTools: readonly ClientTool[]
  readonly toolChoice: ToolChoice
  /** Calls of the client's tools that one answer may have. */
  readonly maxCalls: number
  readonly format: OutputFormat | undefined
  readonly metadata: ResponseItem | undefined
  readonly isStream: boolean
  readonly isStored: boolean
  readonly isBackground: boolean
  /** False: an agent is not asked, as where a client only has its input kept. */
  readonly isToGenerate: boolean
}

/** How messages are written that items were made of. */
const dialect: ChatDialect = {
  list: 'input', roles: 'user, assistant, system or developer', flatId: 'call_id',
  calls: 'tool_calls', callId: 'tool_call_id', isTextPart,
  blockOf: (part, at) => blockOfPart(part, at, 'input_text, input_image, input_audio or input_file'),
  resultDemand: (id) => 'has a function_call without an output; add '
    + `{ "type": "function_call_output", "call_id": ${id}, "output": "…" } to the input, behind it`,
}

/** Where the items of the responses before come from. */
const BEFORE = 'previous_response_id'

const WHOLE = 'a conversation goes to the agent whole'

const refused: readonly RefusedMember[] = [
  ['conversation', never, 'write previous_response_id, the id of the response before'],
  ['prompt', never, 'no prompts are kept here; write the text as input'],
  ['truncation', (value) => value === 'auto' || value === 'disabled', WHOLE, '"auto" or "disabled"'],
  ['context_management', Array.isArray, WHOLE, 'a list'],
  ['response_format', isOtherwiseSaid, 'write text.format, { "type", "name", "schema" }'],
]

function isOtherwiseSaid(format: unknown, { text }: ResponseItem): boolean {
  return (isRecord(text) && isGiven(text['format'])) || (isRecord(format) && format['type'] === 'text')
}

export function decodeRequest(body: unknown): ResponseRequest {
  if (!isRecord(body)) throw wrongBody('must be a JSON object with "model" and "input"')
  const { input, instructions, metadata, text } = body
  const model = modelIn(body)
  refuseMembers(body, refused)
  requireInstructions(body)
  // They are shown again.
  for (const name of ['user', 'safety_identifier', 'prompt_cache_key']) {
    if (typeof body[name] === 'string' && body[name] !== '') nameIn(body[name], name)
  }
  if (isGiven(metadata) && !isRecord(metadata)) throw wrongMember('metadata', 'must be an object')
  if (isGiven(text) && !isRecord(text)) throw wrongMember('text', 'must be an object')
  const [isStream, isBackground] = [isTrue(body, 'stream'), isTrue(body, 'background')]
  const isStored = isTrue(body, 'store', true)
  const { prompt_cache_options: cache } = body
  if (isBackground && !isStored) throw wrongMember('store', 'must be true in the background')
  const previousId = previousIn(body)
  const { clientTools, toolChoice } = chosenTools(decodeTools(body['tools'], true), body['tool_choice'])
  return {
    body, model, isStream, isStored, isBackground,
    isToGenerate: isTrue(body, 'generate', true) && !(isRecord(cache) && cache['prewarm'] === true),
    input: itemsBehind(previousId, input), previousId,
    instructions: typeof instructions === 'string' ? instructions : undefined,
    clientTools, toolChoice, maxCalls: mostCalls(body),
    format: decodeFormat(isRecord(text) ? text['format'] : undefined, true),
    metadata: isRecord(metadata) ? metadata : undefined,
  }
}

/** What is to become one item: `input`, behind the items of a response before. */
export function decodeCompaction(
  body: unknown,
): Pick<ResponseRequest, 'model' | 'input' | 'previousId'> {
  if (!isRecord(body)) throw wrongBody('must be a JSON object with "model" and "input"')
  const { input } = body
  const model = modelIn(body)
  requireInstructions(body)
  const previousId = previousIn(body)
  const items = itemsBehind(previousId, input)
  if (previousId === undefined && items.length === 0) throw wrongMember('input', 'has no items')
  return { model, input: items, previousId }
}

/** Behind a response before there need be none. */
function itemsBehind(previousId: string | undefined, input: unknown): readonly ResponseItem[] {
  return previousId !== undefined && !isGiven(input) ? [] : itemsOf(input)
}

function previousIn({ previous_response_id: id }: ResponseItem): string | undefined {
  return isGiven(id) ? nameIn(id, 'previous_response_id') : undefined
}

function modelIn({ model }: ResponseItem): string {
  if (typeof model === 'string' && model !== '') return model
  throw wrongMember('model', 'must be the id of an agent; the list of models has them')
}

function requireInstructions({ instructions }: ResponseItem): void {
  if (isGiven(instructions) && typeof instructions !== 'string') {
    throw wrongMember('instructions', 'must be a string')
  }
}

function isTrue(body: ResponseItem, name: string, usual = false): boolean {
  const value = body[name] ?? usual
  if (typeof value !== 'boolean') throw wrongMember(name, 'must be true or false')
  return value
}

/** None of an empty input: clients send one to see whether there is an answer. */
function itemsOf(input: unknown): readonly ResponseItem[] {
  if (input === '') return []
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  if (!Array.isArray(input)) throw wrongMember('input', 'must be a string or a list of items')
  return input.map((item: unknown, index) => {
    if (isRecord(item)) return givenMembers(item)
    throw wrongMember(`input[${index}]`, 'must be an object')
  })
}

/** What an agent gets of the items of the responses before, and of the present one; undefined: of nothing. */
export function conversationOf(
  instructions: string | undefined, before: readonly ResponseItem[], input: readonly ResponseItem[],
  reader: CompactionOpener, bounds: JsonBounds, passed: PassedOver,
): Conversation | undefined {
  const items = placedItems(before, input, reader)
  const messages = messagesOf(items)
  if (messages.every((message) => message === undefined)) return undefined
  const conversation = decodeMessages(messages, dialect, bounds, passed, (index) => items[index]!.at)
  if (instructions === undefined) return conversation
  const history = [{ role: 'system' as const, content: instructions }, ...conversation.history]
  return { ...conversation, history }
}

/** The items of a conversation that an agent can read. Throws `Fault('invalid')` for others. */
export function readableItems(
  before: readonly ResponseItem[], input: readonly ResponseItem[], reader: CompactionOpener,
  bounds: JsonBounds,
): readonly ResponseItem[] {
  const items = placedItems(before, input, reader)
  const messages = messagesOf(items)
  // As they will be read: the user goes on behind them.
  const next = { role: 'user', content: 'Go on' }
  decodeMessages([...messages, next], dialect, bounds, new PassedOver(), (index) => items[index]?.at ?? '')
  return items.flatMap(({ item }, index) => messages[index] === undefined ? [] : [item])
}

/** An item of a conversation, and where it comes from. */
interface PlacedItem { readonly item: ResponseItem; readonly at: string }

/** All items in order, with what compactions stand for. */
function placedItems(
  before: readonly ResponseItem[], input: readonly ResponseItem[], reader: CompactionOpener,
): readonly PlacedItem[] {
  const placed: PlacedItem[] = []
  const place = (item: ResponseItem, at: string): void => { placed.push({ item, at }) }
  if (before.length > 0) {
    const opened = before.flatMap((item) => item['type'] === 'compaction' ? reader.open(item, BEFORE) : item)
    for (const item of withCalls(opened)) place(item, BEFORE)
  }
  input.forEach((item, index) => {
    const at = `input[${index}]`
    if (item['type'] !== 'compaction') place(item, at)
    else for (const one of reader.open(item, at)) place(one, at)
  })
  return placed
}

/** Without the outputs whose calls are not kept any more. */
function withCalls(items: readonly ResponseItem[]): readonly ResponseItem[] {
  const calls = new Set(items.filter(({ type }) => type === 'function_call').map((item) => item['call_id']))
  return items.filter(({ type, call_id: id }) => type !== 'function_call_output' || calls.has(id))
}

/** Items as messages of chat completions; undefined for one that says nothing to an agent. */
function messagesOf(items: readonly PlacedItem[]): readonly (ResponseItem | undefined)[] {
  const others = new OtherCalls()
  return items.map(({ item, at }) => messageOf(item, at, others))
}

function messageOf(item: ResponseItem, at: string, others: OtherCalls): ResponseItem | undefined {
  const { type = 'message', role, content, namespace } = item
  switch (type) {
    case 'message': return { role, content }
    case 'function_call': {
      const [id, name] = [textIn(item, 'call_id', at), textIn(item, 'name', at)]
      const called = { name: nameWithin(namespace, name), arguments: item['arguments'] }
      return { role: 'assistant', tool_calls: [{ id, type: 'function', function: called }] }
    }
    case 'function_call_output': {
      if (others.has(item)) return others.messageOf(item)
      const id = textIn(item, 'call_id', at)
      // Clients write null for what gave nothing.
      const { output = '' } = item
      if (typeof output === 'string' || Array.isArray(output)) {
        return { role: 'tool', tool_call_id: id, content: output }
      }
      throw wrongMember(`${at}.output`, 'must be a string or a list of parts')
    }
    case 'compaction_trigger': throw wrongMember(`${at}.type`, 'cannot be compaction_trigger: POST '
      + '/v1/responses/compact makes one item of a conversation')
    default: {
      // What a client would miss, unlike the items of tools.
      if (typeof type !== 'string' || (isGiven(role) && isGiven(content))) {
        throw wrongMember(`${at}.type`, 'must be message, or that of another item')
      }
      return others.messageOf(item)
    }
  }
}

function textIn(item: ResponseItem, member: string, at: string): string {
  const value = item[member]
  if (typeof value === 'string') return value
  throw wrongMember(`${at}.${member}`, 'must be a string')
}
