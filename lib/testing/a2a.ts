/**
 * The client for tests over A2A.
 * Spec: A2A 1.0 §3, §9.
 */
import { isRecord } from '../kernel/define/content.ts'
import { randomUuid } from '../kernel/wire/random.ts'
import { MAX_ROUNDS, postJson, resultsOf } from './http.ts'
import type { TriportServer } from '../preset/create-server.ts'
import type { JsonRecord, TestAnswer, TestClient, TestClientOptions, TestRequest } from './types.ts'

interface Part { readonly text?: string; readonly data?: unknown; readonly url?: string }
interface Message { readonly parts: readonly Part[]; readonly contextId?: string }
interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string; readonly message?: Message }
  readonly artifacts?: readonly { readonly parts: readonly Part[] }[]
}

/** What is answered to a question: parts, or nothing for a question that is declined. */
type Reply = readonly object[]
/** What an event of a stream shows. */
type Shown = JsonRecord | undefined
type Send = (parts: Reply, more: TestRequest) => Promise<TestAnswer>

export function a2aClient(
  server: Pick<TriportServer, 'fetch'>, options: TestClientOptions,
): TestClient['a2a'] {
  const { onElicit } = options

  async function* call(method: string, params: object, given: TestRequest): AsyncGenerator<JsonRecord> {
    const { agent } = given
    const path = agent === undefined ? '/a2a' : `/agents/${encodeURIComponent(agent)}/a2a`
    const message = { jsonrpc: '2.0', id: 1, method, params }
    const known = ['agent', 'contextId', 'taskId', 'metadata']
    yield* resultsOf(await postJson(server, options, path, message, { 'A2A-Version': '1.0' }, given, known))
  }

  async function answer(method: string, params: object, given: TestRequest): Promise<TestAnswer> {
    for await (const result of call(method, params, given)) return answerOf(result)
    throw new Error(`The answer to ${method} has no result`)
  }

  /** What the client's user answers to a task that waits; undefined where that cannot be asked. */
  async function replyTo({ status }: Task): Promise<Reply | undefined> {
    const parts = status.message?.parts ?? []
    const schema = parts.map(({ data }) => isRecord(data) ? data['schema'] : undefined).find(isRecord)
    const url = parts.find((part) => part.url !== undefined)?.url
    if (onElicit === undefined || (schema ?? url) === undefined) return undefined
    const message = parts.find(({ text }) => text !== undefined)?.text ?? ''
    const { action, content } = await onElicit({ message, ...schema && { schema }, ...url && { url } })
    if (action !== 'accept') return []
    return [content === undefined ? { text: 'Done' } : { data: content }]
  }

  /** Sends a message, and answers what is asked. */
  async function converse(said: string | Reply, given: TestRequest, send: Send): Promise<TestAnswer> {
    let result = await send(typeof said === 'string' ? [{ text: said }] : said, given)
    for (let round = 0; ; round++) {
      const { taskId, state, body, text } = result
      if (taskId === undefined || (state !== 'input-required' && state !== 'auth-required')) return result
      const end = (): Promise<TestAnswer> => answer('CancelTask', { id: taskId }, given)
      if (round === MAX_ROUNDS) {
        await end()
        throw new Error(`The agent asks without an end: ${text}`)
      }
      // A test that fails leaves no task that waits.
      const reply = await replyTo(body as unknown as Task).catch(async (error: unknown) => {
        await end().catch(() => undefined)
        throw error
      })
      if (reply === undefined) return result
      // Only the end of its task ends a question without an answer.
      if (reply.length === 0) return end()
      result = await send(reply, { ...given, taskId })
    }
  }

  return {
    send: (said, given = {}) => converse(said, given, (parts, more) => (
      answer('SendMessage', paramsOf(parts, more), more)
    )),
    async stream(said, given = {}) {
      const events: JsonRecord[] = []
      const pieces: string[] = []
      const result = await converse(said, given, async (parts, more) => {
        let id: unknown
        for await (const event of call('SendStreamingMessage', paramsOf(parts, more), more)) {
          events.push(event)
          const { artifactUpdate, statusUpdate, task } = event as Readonly<Record<string, Shown>>
          const piece = textOf((artifactUpdate?.['artifact'] as Message | undefined)?.parts ?? [])
          if (piece !== '') pieces.push(piece)
          id ??= task?.['id'] ?? artifactUpdate?.['taskId'] ?? statusUpdate?.['taskId']
          if (id === undefined) return answerOf(event)
        }
        return answer('GetTask', { id }, more)
      })
      return { ...result, pieces, events }
    },
    task: (id, given = {}) => answer('GetTask', { id }, given),
  }
}

function paramsOf(parts: Reply, { contextId, taskId, metadata }: TestRequest): object {
  return { message: { messageId: randomUuid(), role: 'ROLE_USER', parts, contextId, taskId, metadata } }
}

/** A message, or a task, bare or as a member. */
function answerOf(result: JsonRecord): TestAnswer {
  const message = result['message'] as Message | undefined
  if (message !== undefined) {
    const { parts, contextId = '' } = message
    return { ...saidIn(parts), state: undefined, taskId: undefined, contextId, body: { ...message } }
  }
  const task = (result['task'] ?? result) as Task
  const { id: taskId, contextId, status, artifacts = [] } = task
  const made = artifacts.flatMap(({ parts }) => parts)
  const state = status.state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-')
  const said = saidIn(made.length > 0 ? made : status.message?.parts ?? [])
  return { ...said, state, taskId, contextId, body: { ...task } }
}

function saidIn(parts: readonly Part[]): Pick<TestAnswer, 'text' | 'data'> {
  return { text: textOf(parts), data: parts.find(({ data }) => data !== undefined)?.data }
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text = '' }) => text).join('')
}
