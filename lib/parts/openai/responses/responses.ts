/**
 * Responses: created, read, cancelled and deleted by their owner. One in the background is a task.
 * Spec: https://platform.openai.com/docs/api-reference/responses
 */
import { tasksOf } from '../../../floors/tasks/tasks-floor.ts'
import { isGiven, text } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { timeoutOf } from '../../../floors/conversations/answer-message.ts'
import { cancelTaskRun, TaskRun } from '../../../floors/tasks/task-run.ts'
import { isTerminal } from '../../../floors/tasks/task.ts'
import { MAX_TIMER_MS } from '../../../kernel/util/clock.ts'
import { andThen } from '../../../kernel/util/thenable.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { JSON_TYPE } from '../../../kernel/wire/media.ts'
import { PassedOver } from '../../../floors/chat/passed-over.ts'
import { wrongMember } from '../../../floors/chat/members.ts'
import { openaiRefusal, requireModel } from '../openai-errors.ts'
import { replyOnce } from '../../../floors/reply/idempotent-reply.ts'
import { json, limitIn, publicFailure, valueIn } from '../../../floors/reply/reply.ts'
import { agentRun } from '../../../floors/reply/agent-run.ts'
import { CompactionReader, sealItems } from './compaction.ts'
import { inputItemId, resolveReferences } from './item-references.ts'
import {
  absence, keepResponse, readResponse, removeResponse, requireResponse, responseNow, responseTask,
  unknownResponse,
} from './kept-responses.ts'
import { conversationOf, decodeCompaction, decodeRequest, readableItems } from './response-input.ts'
import { idFor, listedItem, secondsNow, usageOf } from './response-object.ts'
import { ResponseFace } from './response-run.ts'
import { pieceLine, PIECES, streamResponse } from './response-stream.ts'
import type { Answer } from '../../../floors/answers/answer.ts'
import type { AgentInput, Conversation } from '../../../floors/chat/messages.ts'
import type { RunEvent } from '../../../floors/answers/run-event.ts'
import type { RunWriter } from '../../../floors/reply/run.ts'
import type { Agent, Group } from '../../../kernel/define/agent.ts'
import type { Origin } from '../../../kernel/define/call.ts'
import type { Exchange, Reply } from '../../../kernel/http/message/exchange.ts'
import type { Service } from '../../../kernel/run/service.ts'
import type { KeyHold } from '../../../floors/idempotency/idempotency.ts'
import type { MaybePromise } from '../../../kernel/util/thenable.ts'
import type { Seal } from '../../../kernel/wire/seal.ts'
import type { KeptResponse } from './kept-responses.ts'
import type { ResponseItem, ResponseRequest } from './response-input.ts'
import type { AskedItems, ResponseTurn } from './response-run.ts'

/** Answers a request for a response. Throws, or rejects with, a `Fault`. */
export function createResponse(service: Service, exchange: Exchange, seal: Seal): MaybePromise<Reply> {
  const { body, origin } = exchange
  const request = decodeRequest(valueIn(body, service))
  const agent = requireModel(service, request.model, exchange)
  const { isBackground, isStream } = request
  const work = {
    identity: { responses: body }, isStream: isStream && !isBackground, refuse: openaiRefusal,
  }
  const reply = replyOnce(service, exchange, work, timeoutOf(service, agent), (hold) => (
    begin(service, seal, agent, request, origin, hold)
  ))
  return isBackground && isStream ? andThen(reply, (begun) => asStream(service, begun, origin)) : reply
}

/** The events of a response that has begun in the background, instead of what it was then. */
async function asStream(service: Service, begun: Reply, { principal, requestId }: Origin): Promise<Reply> {
  if (begun.status !== 200) return begun
  const { id } = JSON.parse(String(begun.body)) as { readonly id: string }
  const { headers } = begun
  return { ...await streamResponse(service, principal.id, id, -1, requestId), ...headers && { headers } }
}

function begin(
  service: Service, seal: Seal, agent: Agent | Group, request: ResponseRequest, origin: Origin,
  hold?: KeyHold,
): MaybePromise<Reply> {
  return andThen(askedItems(service, origin.principal.id, request), (asked): MaybePromise<Reply> => {
    const turn = turnOf(service, seal, agent, request, asked, origin)
    const face = new ResponseFace(service, turn)
    const run = agentRun(service, origin, agent, turn.input, face, hold, turn.isAsked)
    return request.isBackground ? beginTask(service, turn, face, run) : run.replyAs(request.isStream)
  })
}

/** What a client says that only looks whether there is an answer. */
const nothing: Conversation = { prompt: '', message: [], history: [], clientToolResults: [] }

/** Throws `Fault('invalid')`. */
function turnOf(
  service: Service, seal: Seal, agent: Agent | Group, request: ResponseRequest, asked: AskedItems,
  origin: Origin,
): ResponseTurn {
  const { limits } = service
  const { before, input: items, readLength } = asked
  const reader = new CompactionReader(seal, origin.principal.id, limits)
  const { instructions, clientTools, toolChoice, format, metadata, isToGenerate } = request
  const passed = new PassedOver()
  const conversation = conversationOf(instructions, before, items, reader, limits, passed)
  passed.report(service.log, origin)
  if (isGiven(request.body['context_management'])) {
    service.log('info', 'A client asks by context_management that its conversation be compacted; the agent '
      + 'gets it whole', { request: origin.requestId })
  }
  const { prompt, message, history, clientToolResults } = conversation ?? nothing
  const input: AgentInput = {
    protocol: 'http', conversationId: undefined, isNamed: false,
    // What was read of the store and of compactions counts.
    readLength: reader.length + readLength + (before.length === 0 ? 0 : formatJson(before).length),
    metadata, prompt, message, history, clientTools, toolChoice, clientToolResults,
    outputSchema: format?.schema,
  }
  return { agent, request, asked, input, isAsked: conversation !== undefined && isToGenerate }
}

/** The items of the conversation before, and of a request. Throws, or rejects with, a `Fault`. */
function askedItems(
  service: Service, owner: string, request: Pick<ResponseRequest, 'previousId' | 'input'>,
): MaybePromise<AskedItems> {
  return andThen(itemsBefore(service, owner, request), (before) => (
    andThen(resolveReferences(service, owner, request.input, before), ({ input, readLength }) => (
      { before, input, readLength }
    ))
  ))
}

/** Answers with a conversation as one item. No model is asked. Rejects with a `Fault`. */
export async function compactResponse(
  service: Service, exchange: Exchange, seal: Seal,
): Promise<Reply> {
  const { body, origin } = exchange
  const request = decodeCompaction(valueIn(body, service))
  requireModel(service, request.model, exchange)
  const owner = origin.principal.id
  const { before, input } = await askedItems(service, owner, request)
  const { limits } = service
  const items = readableItems(before, input, new CompactionReader(seal, owner, limits), limits)
  const sealed = await sealItems(seal, owner, items)
  return json({
    id: idFor('resp'), object: 'response.compaction', created_at: secondsNow(),
    output: [{ type: 'compaction', id: idFor('cmp'), encrypted_content: sealed }],
    usage: usageOf({ inputTokens: 0, outputTokens: 0 }),
  })
}

/** The items of the conversation that a request goes on with. */
function itemsBefore(
  service: Service, owner: string, { previousId }: Pick<ResponseRequest, 'previousId'>,
): MaybePromise<readonly ResponseItem[]> {
  if (previousId === undefined) return []
  return andThen(readResponse(service, owner, previousId), (kept) => {
    if (kept === undefined) {
      const detail = { param: 'previous_response_id', code: 'previous_response_not_found' }
      throw new Fault('invalid', absence(previousId), detail)
    }
    if (kept.response['status'] !== 'in_progress') return kept.items
    return itemsAtEnd(service, owner, previousId, kept)
  })
}

/** The items of a response in the background, however it ended. Rejects with a `Fault` while it runs. */
async function itemsAtEnd(
  service: Service, owner: string, id: string, kept: KeptResponse,
): Promise<readonly ResponseItem[]> {
  const { status } = await responseNow(service, owner, id, kept)
  // Those that it had in the end, if it could keep them.
  if (status !== 'in_progress') return (await readResponse(service, owner, id) ?? kept).items
  const remedy = 'read it until its status says so, or cancel it'
  throw new Fault('conflict', `The response '${id}' is not over yet; ${remedy}`, {
    param: 'previous_response_id', code: null,
  })
}

/** Runs a response as a task, and answers at once. */
function beginTask(
  service: Service, { agent, request }: ResponseTurn, face: ResponseFace, run: RunWriter<Answer>,
): MaybePromise<Reply> {
  const { call } = run
  const { kind, id: name } = agent
  const { id } = face
  const owner = call.principal.id
  tasksOf(service).check()
  service.workload.check(call.origin)
  // What comes in pieces is kept if it is to be read; without room for more, the rest comes at the end.
  let hasRoom = request.isStream
  const emit = (event: RunEvent): void | Promise<void> => {
    const delta = face.deltaOf(event, call)
    if (delta === '' || !hasRoom) return undefined
    try {
      return task.piece(PIECES, text(pieceLine(event.type, delta)), true, false)
    } catch {
      hasRoom = false
    }
  }
  const task = new TaskRun(service, call, {
    can: () => false,
    output: { event: (event) => void emit(event), artifact: call.keepArtifact.bind(call) },
  })
  const response = face.begun()
  // Not for ever, even where the run may take that long: what a client makes us keep makes room.
  const runMs = Math.min(timeoutOf(service, agent), MAX_TIMER_MS)
  const kept = keepResponse(service, owner, id, response, face.kept, runMs)
  const work = async (): Promise<void> => {
    try {
      await face.ended(await run.execute(request.isStream ? emit : undefined), call)
      task.complete({})
    } catch (error) {
      const failure = publicFailure(service, error, call.requestId)
      // It is kept before the task has ended, and may be forgotten. One that was cancelled may be deleted.
      if (failure.fault.kind !== 'cancelled') await face.keepFailed(failure, call)
      task.fail(error)
    }
  }
  const begun = andThen(kept, () => task.begin({
    id, owner, protocol: 'http', runnable: { kind, name }, contextId: id,
    sessionId: undefined, ttlMs: undefined,
  }))
  return andThen(begun, () => {
    // The client may leave: its request is answered.
    void work()
    return { status: 200, type: JSON_TYPE, body: response }
  })
}

/** A response as it stands, or its events. Each of these rejects with a `Fault`. */
export async function getResponse(service: Service, exchange: Exchange): Promise<Reply> {
  const asked = new URLSearchParams(exchange.query)
  const [owner, id] = [ownerOf(exchange), idIn(exchange)]
  if (asked.get('stream') === 'true') {
    return streamResponse(service, owner, id, startIn(asked), exchange.origin.requestId)
  }
  return json(await responseNow(service, owner, id, await requireResponse(service, owner, id)))
}

/** The number of the event behind which a stream begins. */
function startIn(asked: URLSearchParams): number {
  const text = asked.get('starting_after')
  if (text === null) return -1
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw wrongMember('starting_after', 'must be the sequence_number of an event, a whole number')
}

/** Cancels a response that runs in the background; one that has ended stays as it is. */
export async function cancelResponse(service: Service, exchange: Exchange): Promise<Reply> {
  const kept = await requireResponse(service, ownerOf(exchange), idIn(exchange))
  if (kept.response['background'] !== true) {
    throw new Fault('invalid', 'Only a response with "background": true can be cancelled; to end another, '
      + 'close its connection')
  }
  await cancelRunning(service, exchange)
  const response = await responseNow(service, ownerOf(exchange), idIn(exchange), kept)
  if (response['status'] === 'cancelled') {
    // Its task will be forgotten.
    await keepResponse(service, ownerOf(exchange), idIn(exchange), formatJson(response), kept)
  }
  return json(response)
}

/** Removes a response; one that runs is cancelled. */
export async function deleteResponse(service: Service, exchange: Exchange): Promise<Reply> {
  const id = idIn(exchange)
  await cancelRunning(service, exchange)
  if (!await removeResponse(service, ownerOf(exchange), id)) throw unknownResponse(id)
  return json({ id, object: 'response', deleted: true })
}

/** The input of a response, the last item first. */
export async function inputItems(service: Service, exchange: Exchange): Promise<Reply> {
  const asked = new URLSearchParams(exchange.query)
  const limit = limitIn(asked, (demand) => wrongMember('limit', demand))
  const order = asked.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw wrongMember('order', 'must be asc or desc')
  const { input } = await requireResponse(service, ownerOf(exchange), idIn(exchange))
  // Those of the client need not differ, and a page ends with one.
  const items = input.map((item, index) => ({ ...listedItem(item), id: inputItemId(idIn(exchange), index) }))
  if (order === 'desc') items.reverse()
  const after = asked.get('after')
  const from = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1
  if (after !== null && from === 0) throw wrongMember('after', 'must be the last_id of a page')
  const data = items.slice(from, from + limit)
  return json({
    object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < items.length,
  })
}

async function cancelRunning(service: Service, exchange: Exchange): Promise<void> {
  const task = await responseTask(service, ownerOf(exchange), idIn(exchange))
  if (task !== undefined && !isTerminal(task.status.state)) await cancelTaskRun(service, task)
}

function ownerOf({ origin: { principal } }: Exchange): string {
  return principal.id
}

function idIn({ params }: Exchange): string {
  return params.get('response') ?? ''
}
