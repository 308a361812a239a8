/** What a compiler has to accept: agents and results of the real packages. `served.mjs` has it checked. */
import { ToolLoopAgent as Seven } from 'ai7'
import { ToolLoopAgent as Six, generateText, streamText } from 'ai'
import { Experimental_Agent as Five } from 'ai5'
import { openai } from '@ai-sdk/openai'
import { Agent as Mastra } from '@mastra/core/agent'
import { Agent as OldMastra } from 'mastra-0/agent'
import { Agent as Volt } from '@voltagent/core'
import { adapt, createServer, launch } from '../../../../dist/index.js'

/** A model, of which each version of the AI SDK and the older Mastra have a type of their own. */
declare const model: any

const seven = new Seven({ model: openai('a') })
const mastra = new Mastra({ id: 'a', name: 'A', instructions: 'Help.', model: 'openai/a' })
const old = new OldMastra({ name: 'A', instructions: 'Help.', model })
const volt = new Volt({ name: 'A', instructions: 'Help.', model: 'openai/a' })
const all = [seven, new Six({ model }), new Five({ model }), mastra, old, volt]

await launch(seven)
await launch(mastra)
await launch(volt)
await launch([seven, mastra, volt])
createServer({ agents: all })
adapt(seven, { name: 'A' })
adapt(mastra)
adapt(volt, { description: 'Helps.' })
createServer({
  agents: [
    (prompt) => streamText({ model, prompt }),
    { name: 'B', run: (prompt) => generateText({ model, prompt }) },
    { name: 'C', run: (prompt) => streamText({ model, prompt }).fullStream },
    { name: 'D', run: (prompt) => streamText({ model, prompt }).toUIMessageStream() },
    { name: 'E', run: (prompt) => mastra.stream(prompt) },
    { name: 'F', run: (prompt) => mastra.generate(prompt) },
    { name: 'G', run: (prompt) => volt.streamText(prompt) },
    { name: 'H', run: (prompt) => seven.stream({ prompt }) },
    { name: 'I', async *run(prompt) { yield* (await seven.stream({ prompt })).fullStream } },
  ],
})
