/**
 * Runs agents of Strands, and reads what they return. An agent holds one conversation: its runs come one
 * after the other, and each begins with what the author has given it.
 */
import { askFreely } from '../approval.ts'
import { earlierMessages, presentMessage } from '../message.ts'
import { readMember } from '../shape.ts'
import { runSteps } from '../steps.ts'
import { makeStrandsReader } from './strands-reader.ts'
import type { Call } from '../../define/call.ts'
import type { Adapter, Reader } from '../adapter.ts'
import type { AttachedFile } from '../message.ts'
import type { AgentStep } from '../steps.ts'

/** All that changes in an agent while it runs, as JSON. */
interface Snapshot {
  readonly data: { readonly messages: readonly object[]; readonly systemPrompt?: unknown }
}

interface Theirs {
  readonly name: string
  takeSnapshot(options: object): Snapshot
  loadSnapshot(snapshot: object): void
  stream(input: readonly object[], options: object): AsyncGenerator<object, Result>
}

interface Result { readonly stopReason: string; readonly interrupts?: readonly AgentInterrupt[] }

/** What an agent or a tool of it asks. */
interface AgentInterrupt { readonly id: string; readonly name: string; readonly reason?: unknown }

/** What a run goes on from. */
interface Asked { readonly snapshot: Snapshot; readonly interrupts: readonly AgentInterrupt[] }

export const strands: Adapter & Reader = {
  run(theirs, prompt, call) {
    const agent = theirs as Theirs
    const read = makeStrandsReader()
    async function* step(asked?: Asked, responses: readonly unknown[] = []): AgentStep<Asked> {
      const endTurn = await waitForTurn(agent)
      let stream: AsyncGenerator<object, Result> | undefined
      try {
        call.signal.throwIfAborted()
        agent.loadSnapshot(asked?.snapshot ?? snapshotFor(agent, call))
        const input = asked === undefined ? inputOf(prompt, call)
          : asked.interrupts.map(({ id }, at) => (
            { interruptResponse: { interruptId: id, response: responses[at] } }
          ))
        stream = agent.stream(input, { cancelSignal: call.signal })
        for (;;) {
          const { done, value } = await stream.next()
          if (done === true && value.stopReason === 'interrupt') {
            return { snapshot: agent.takeSnapshot(WHOLE), interrupts: value.interrupts ?? [] }
          }
          // The result itself comes behind it.
          const isRead = readMember(value, 'type') !== 'agentResultEvent'
          const shown = isRead ? read(value, call) : undefined
          if (shown !== undefined) yield shown
          if (done === true) return undefined
        }
      } finally {
        await stream?.return(undefined as never)
        endTurn()
      }
    }
    return runSteps(call, `strands ${agent.name}`, step, ({ interrupts }) => Promise.all(
      interrupts.map(({ id, name, reason = name }) => askFreely(call, id, reason)),
    ))
  },
  makeReader: makeStrandsReader,
}

const WHOLE = { preset: 'session' }

/** The end of the last run of each agent, which may still be waited for. */
const turns = new WeakMap<Theirs, Promise<void>>()

/** Waits until no other run of the agent goes on; returns what ends this one. */
async function waitForTurn(agent: Theirs): Promise<() => void> {
  const before = turns.get(agent)
  let end = (): void => {}
  turns.set(agent, new Promise((resolve) => { end = resolve }))
  await before
  return end
}

/** Each agent as its author has made it. */
const originals = new WeakMap<Theirs, Snapshot>()

/** The agent as it was made, with the earlier messages of a conversation behind its own. */
function snapshotFor(agent: Theirs, call: Call): Snapshot {
  const original = originals.get(agent) ?? agent.takeSnapshot(WHOLE)
  originals.set(agent, original)
  const { messages, systemPrompt } = original.data
  const hasInstructions = systemPrompt !== undefined && systemPrompt !== null
  const earlier = earlierMessages(call, hasInstructions)
  const system = earlier.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n\n')
  const history: { readonly role: string; readonly content: object[] }[] = []
  for (const { role, content: text } of earlier) {
    if (role === 'system') continue
    // Some models take no two messages of one role.
    if (history.at(-1)?.role === role) history.at(-1)?.content.push({ text })
    else history.push({ role, content: [{ text }] })
  }
  const data = { ...original.data, messages: [...messages, ...history] }
  return { ...original, data: system === '' ? data : { ...data, systemPrompt: system } }
}

function inputOf(prompt: string, call: Call): readonly object[] {
  const { text, files } = presentMessage(prompt, call)
  return [...text === '' ? [] : [{ text }], ...files.map(blockOfFile)]
}

function blockOfFile({ mediaType, data, name }: AttachedFile): object {
  const [, kind = '', subtype = ''] = /^(\w+)\/(?:x-)?([\w.+-]+)/.exec(mediaType) ?? []
  const source = { bytes: new Uint8Array(Buffer.from(data, 'base64')) }
  if (kind === 'image' || kind === 'audio') return { [kind]: { format: subtype, source } }
  const format = formats.get(mediaType) ?? subtype
  // A name is letters, digits, spaces, hyphens and brackets (Bedrock).
  const plain = name?.replace(/\.\w+$/, '').replace(/[^\w ()[\]-]+/g, '-')
  return { document: { name: plain ?? 'file', format, source } }
}

/** Formats whose name is not in their media type. */
const formats: ReadonlyMap<string, string> = new Map([
  ['text/plain', 'txt'], ['text/markdown', 'md'], ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
])
