import assert from 'node:assert/strict'
import test from 'node:test'
import { a2aSdk } from '../../lib/adapters/a2a-sdk.ts'
import { adk } from '../../lib/adapters/adk.ts'
import { agUi } from '../../lib/adapters/ag-ui.ts'
import { aiSdk } from '../../lib/adapters/ai-sdk.ts'
import { langchain } from '../../lib/adapters/langchain.ts'
import { llamaIndex } from '../../lib/adapters/llamaindex.ts'
import { mastra } from '../../lib/adapters/mastra.ts'
import { openaiAgents } from '../../lib/adapters/openai-agents.ts'
import { strands } from '../../lib/adapters/strands.ts'
import { callOf } from './house.ts'
import type { Adapter } from '../../lib/kernel/define/adapters.ts'

const file = (uri: string, mimeType: string) => (
  { type: 'resource', resource: { uri, mimeType, blob: 'AQID' } } as const
)
const message = [
  { type: 'image', data: 'AQID', mimeType: 'Image/PNG' },
  { type: 'audio', data: 'AQID', mimeType: 'Audio/WAV' },
  file('attachment:film.mp4', 'Video/MP4'), file('attachment:my_bill.pdf', 'Application/PDF'),
] as const

async function* nothing(): AsyncGenerator<object> { /* It says nothing. */ }

/** Agents as theirs, which say nothing; each gives what it has got to `take`. */
const agents: Readonly<Record<string, (take: (got: unknown) => void) => readonly [Adapter, object]>> = {
  'AG-UI': (take) => [agUi, {
    messages: [], clone() { return this }, abortRun() {}, async runAgent() {},
    setMessages: ([{ content }]: [{ content: unknown }]) => take(content),
  }],
  'the Development Kit': (take) => [adk, {
    appName: 'app', agent: { name: 'a' },
    sessionService: { createSession: async () => ({ id: 's' }), async deleteSession() {} },
    runAsync({ newMessage }: { newMessage: { parts: unknown } }) {
      take(newMessage.parts)
      return nothing()
    },
  }],
  'the AI SDK': (take) => [aiSdk, {
    stream({ messages: [{ content }] }: { messages: [{ content: unknown }] }) {
      take(content)
      return { fullStream: nothing() }
    },
  }],
  'Mastra': (take) => [mastra, {
    async stream([{ content }]: [{ content: unknown }]) {
      take(content)
      return { runId: 'r', fullStream: nothing() }
    },
  }],
  'LangChain': (take) => [langchain, {
    async stream({ messages: [{ content }] }: { messages: [{ content: unknown }] }) {
      take(content)
      return nothing()
    },
  }],
  'LlamaIndex': (take) => {
    class Workflow {
      getAgents(): readonly object[] { return [] }
      runStream(content: unknown): AsyncIterable<object> {
        take(content)
        return nothing()
      }
    }
    return [llamaIndex, new Workflow()]
  },
  'OpenAI\'s agents': (take) => [openaiAgents, {
    asTool: ({ inputBuilder, customOutputExtractor: end }: Record<string, (of?: object) => unknown>) => ({
      async invoke() {
        take((inputBuilder!() as [{ content: unknown }])[0].content)
        end!({ interruptions: [], newItems: [], finalOutput: '' })
      },
    }),
  }],
  'Strands': (take) => [strands, {
    takeSnapshot: () => ({ data: { messages: [] } }), loadSnapshot() {},
    async* stream(input: unknown) {
      take(input)
      return { type: 'agentResult', stopReason: 'endTurn', toString: () => '' }
    },
  }],
  'A2A 0.3': (take) => [a2aSdk, {
    sendMessageStream({ message: { parts } }: { message: { parts: unknown } }) {
      take(parts)
      return nothing()
    },
  }],
  'A2A 1.0': (take) => [a2aSdk, {
    protocolVersion: '1.0',
    sendMessageStream({ message: { parts } }: { message: { parts: unknown } }) {
      take(parts)
      return nothing()
    },
  }],
}

const bytes = new Uint8Array([1, 2, 3])
const buffer = Buffer.from(bytes)
const dataOf = (kind: string, mimeType: string): object => (
  { type: kind, source: { type: 'data', value: 'AQID', mimeType } }
)
const url = (mimeType: string): string => `data:${mimeType};base64,AQID`
// In any case, as clients may write them.
const png = 'Image/PNG'
const [wav, mp4, pdf] = ['Audio/WAV', 'Video/MP4', 'Application/PDF'] as const
const hi = { type: 'text', text: 'Hi' }
const raw = (mediaType: string, filename = ''): object => (
  { content: { $case: 'raw', value: buffer }, mediaType, filename }
)

const got: Readonly<Record<string, readonly object[]>> = {
  'AG-UI': [hi, dataOf('image', png), dataOf('audio', wav), dataOf('video', mp4), dataOf('document', pdf)],
  'the Development Kit': [
    { text: 'Hi' }, ...[png, wav, mp4, pdf].map((mimeType) => ({ inlineData: { data: 'AQID', mimeType } })),
  ],
  'the AI SDK': [
    hi, { type: 'file', data: 'AQID', mediaType: png }, { type: 'file', data: 'AQID', mediaType: wav },
    { type: 'file', data: 'AQID', mediaType: mp4, filename: 'film.mp4' },
    { type: 'file', data: 'AQID', mediaType: pdf, filename: 'my_bill.pdf' },
  ],
  'Mastra': [
    hi, { type: 'image', image: url(png), mimeType: png },
    { type: 'file', data: 'AQID', mediaType: wav, mimeType: wav },
    { type: 'file', data: 'AQID', mediaType: mp4, mimeType: mp4, filename: 'film.mp4' },
    { type: 'file', data: 'AQID', mediaType: pdf, mimeType: pdf, filename: 'my_bill.pdf' },
  ],
  'LangChain': [
    hi, { type: 'image_url', image_url: { url: url(png) } },
    ...[['audio', wav, 'file'], ['file', mp4, 'film.mp4'], ['file', pdf, 'my_bill.pdf']].map(
      ([type, mime_type, filename]) => (
        { type, source_type: 'base64', mime_type, data: 'AQID', metadata: { filename } }
      ),
    ),
  ],
  'LlamaIndex': [
    hi, { type: 'image_url', image_url: { url: url(png) } }, { type: 'audio', data: 'AQID', mimeType: wav },
    { type: 'file', data: 'AQID', mimeType: mp4 }, { type: 'file', data: 'AQID', mimeType: pdf },
  ],
  'OpenAI\'s agents': [
    { type: 'input_text', text: 'Hi' }, { type: 'input_image', image: url(png) },
    { type: 'audio', audio: 'AQID', format: 'wav' },
    { type: 'input_file', file: url(mp4), filename: 'film.mp4' },
    { type: 'input_file', file: url(pdf), filename: 'my_bill.pdf' },
  ],
  'Strands': [
    { text: 'Hi' }, { image: { format: 'png', source: { bytes } } },
    { audio: { format: 'wav', source: { bytes } } }, { video: { format: 'mp4', source: { bytes } } },
    { document: { name: 'my-bill', format: 'pdf', source: { bytes } } },
  ],
  'A2A 0.3': [
    { kind: 'text', text: 'Hi' }, { kind: 'file', file: { bytes: 'AQID', mimeType: png } },
    { kind: 'file', file: { bytes: 'AQID', mimeType: wav } },
    { kind: 'file', file: { bytes: 'AQID', mimeType: mp4, name: 'film.mp4' } },
    { kind: 'file', file: { bytes: 'AQID', mimeType: pdf, name: 'my_bill.pdf' } },
  ],
  'A2A 1.0': [
    { content: { $case: 'text', value: 'Hi' }, mediaType: '', filename: '' },
    raw(png), raw(wav), raw(mp4, 'film.mp4'), raw(pdf, 'my_bill.pdf'),
  ],
}

for (const [framework, make] of Object.entries(agents)) {
  test(`the files of a message reach an agent of ${framework} as its own kinds of files`, async () => {
    let given: unknown
    const [adapter, agent] = make((value) => { given = value })
    for await (const _ of adapter.run(agent, 'Hi', callOf({ message }))) { /* It says nothing. */ }
    assert.deepEqual(given, got[framework])
  })
}
