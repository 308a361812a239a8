/** Runs agents elsewhere by a client of the A2A SDK, versions 0.3 and 1, and reads its events and results. */
import { askFreely } from './shared/approval.ts'
import { asOneText, fileBlock, presentMessage } from './shared/message.ts'
import { itemsIn, readMember } from './shared/shape.ts'
import { runSteps } from './shared/steps.ts'
import { letEnd } from '../kernel/util/thenable.ts'
import type { Call } from '../kernel/define/call.ts'
import type { ContentInput } from '../kernel/define/content.ts'
import type { Adapter, ReadResult, Reader, Shown } from '../kernel/define/adapters.ts'
import type { AgentStep } from './shared/steps.ts'

interface Client {
  /** Version 1 and above. */
  readonly protocolVersion?: string
  sendMessageStream(message: object, options: object): AsyncIterable<object>
  cancelTask(task: object): Promise<unknown>
}

/** A task that waits for an answer. */
interface Asking {
  readonly taskId: string
  readonly contextId: string
  readonly question: string
  /** How many questions it has asked. */
  readonly round: number
}

const states = [
  '', 'submitted', 'working', 'completed', 'failed', 'canceled', 'input-required', 'rejected',
  'auth-required',
]
const waiting: ReadonlySet<unknown> = new Set(['input-required', 'auth-required'])
const ended: ReadonlySet<unknown> = new Set(['completed', 'failed', 'canceled', 'rejected'])

export const a2aSdk: Adapter & Reader = {
  async* run(agent, prompt, call) {
    const client = agent as Client
    const read = makeReader()
    const step = async function* (asking?: Asking, answer?: string | null): AgentStep<Asking> {
      if (asking !== undefined && answer === null) {
        await client.cancelTask({ id: asking.taskId })
        yield 'The question was not answered.'
        return undefined
      }
      const text = answer ?? asOneText(prompt, call)
      const message = messageFor(client, asking, text, call)
      let task: Pick<Asking, 'taskId' | 'contextId'> | undefined
      let state: string | undefined
      let question = ''
      try {
        for await (const event of client.sendMessageStream({ message }, { signal: call.signal })) {
          const update = updateOf(event)
          task = update.task ?? task
          state = update.state ?? state
          if (waiting.has(update.state)) question = textOf(update.parts)
          const shown = read(event, call)
          if (shown !== undefined) yield shown
        }
      } finally {
        const isLeft = call.signal.aborted && !ended.has(state) && task !== undefined
        if (isLeft) letEnd(() => client.cancelTask({ id: task!.taskId }))
      }
      if (question === '' || task === undefined) return undefined
      return { ...task, question, round: (asking?.round ?? 0) + 1 }
    }
    yield* runSteps(call, 'a2a', step, async ({ taskId, question, round }) => {
      const answer = await askFreely(call, `a2a-${taskId}-${round}`, question)
      return answer === null ? null : String(answer)
    })
  },
  makeReader,
}

function messageFor(client: Client, asking: Asking | undefined, text: string, call: Call): object {
  const isNew = client.protocolVersion !== undefined && !client.protocolVersion.startsWith('0.')
  const files = asking === undefined ? presentMessage('', call).files : []
  const of = asking === undefined ? {} : { taskId: asking.taskId, contextId: asking.contextId }
  const messageId = crypto.randomUUID()
  if (!isNew) {
    const parts = files.map(({ data, mediaType, name }) => (
      { kind: 'file', file: { bytes: data, mimeType: mediaType, ...name !== undefined && { name } } }
    ))
    return { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }, ...parts], ...of }
  }
  const parts = files.map(({ data, mediaType, name = '' }) => (
    { content: { $case: 'raw', value: Buffer.from(data, 'base64') }, mediaType, filename: name }
  ))
  return {
    taskId: '', contextId: '', ...of, messageId, role: 1, extensions: [], referenceTaskIds: [],
    parts: [{ content: { $case: 'text', value: text }, mediaType: '', filename: '' }, ...parts],
  }
}

/** An event, its state in the words of version 0.3. `artifacts` are those of a whole task. */
function updateOf(event: object) {
  const payload = readMember(event, 'payload')
  const value = readMember(payload, 'value') ?? event
  const status = readMember(value, 'status')
  const artifact = readMember(value, 'artifact')
  const message = readMember(status, 'message')
  const given = readMember(status, 'state')
  const state = typeof given === 'number' ? states[given] : given
  const id = readMember(value, 'taskId') ?? (status === undefined ? undefined : readMember(value, 'id'))
  const contextId = String(readMember(value, 'contextId') ?? '')
  const isMessage = status === undefined && artifact === undefined
  return {
    isPartOfAnswer: artifact !== undefined || isMessage,
    artifacts: itemsIn(readMember(value, 'artifacts')),
    parts: itemsIn(readMember(artifact ?? (isMessage ? value : message), 'parts')),
    state: typeof state === 'string' ? state : undefined,
    task: typeof id === 'string' && id !== '' ? { taskId: id, contextId } : undefined,
  }
}

function makeReader(): ReadResult {
  /** Whether a part of an answer has come. */
  let isShown = false
  return (event): Shown | undefined => {
    const { isPartOfAnswer, parts, state, artifacts } = updateOf(event)
    if (state === 'failed' || state === 'rejected' || state === 'canceled') {
      throw new Error(`The task of the agent is ${state}: ${textOf(parts)}`)
    }
    if (isPartOfAnswer) return shown(parts)
    if (state !== 'completed' || isShown) return undefined
    const all = artifacts.flatMap((one) => readMember(one, 'parts') ?? [])
    return shown(all.length > 0 ? all : parts)
  }

  function shown(parts: readonly unknown[]): Shown | undefined {
    const content = parts.flatMap(contentOf)
    if (content.length > 0) isShown = true
    const [first] = content
    if (content.length === 1 && first?.type === 'data') return { data: first.data }
    return content.every(({ type }) => type === 'text') ? textOf(parts) : { content }
  }
}

function textOf(parts: readonly unknown[]): string {
  return parts.flatMap(contentOf).map((one) => one.type === 'text' ? one.text : '').join('')
}

function contentOf(part: unknown): readonly ContentInput[] {
  const content = readMember(part, 'content')
  const file = readMember(part, 'file')
  const type = readMember(content, '$case')
  const value = readMember(content, 'value')
  const text = type === 'text' ? value : readMember(part, 'text')
  if (typeof text === 'string') return [{ type: 'text', text }]
  const data = type === 'data' ? value : readMember(part, 'data')
  if (data !== undefined) return [{ type: 'data', data }]
  const mimeType = String(readMember(part, 'mediaType') ?? readMember(file, 'mimeType') ?? '')
  const name = String(readMember(part, 'filename') ?? readMember(file, 'name') ?? 'file')
  const uri = type === 'url' ? value : readMember(file, 'uri')
  if (typeof uri === 'string') return [{ type: 'resource_link', uri, name, mimeType }]
  const bytes = type === 'raw' ? Buffer.from(value as Uint8Array).toString('base64')
    : readMember(file, 'bytes')
  if (typeof bytes !== 'string') return []
  return [fileBlock({ data: bytes, mediaType: mimeType, name })]
}
