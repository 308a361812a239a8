/** Compiled by a test, not run: each agent is taken as it is, and mistakes are told. */
import { Agent as Mastra } from '@mastra/core/agent'
import { Agent as Volt } from '@voltagent/core'
import { generateText, streamText, ToolLoopAgent } from 'ai'
import { Experimental_Agent as Agent5, generateText as generateText5, streamText as streamText5 } from 'ai5'
import { generateText as generateText7, streamText as streamText7, ToolLoopAgent as Agent7 } from 'ai7'
import { adapt, createServer, defineAgent, defineGroup, launch, serveStdio } from 'triport'

const model = 'openai/gpt-5-mini'
const agent = new ToolLoopAgent({ id: 'a', model })
const agent5 = new Agent5({ model })
const agent7 = new Agent7({ id: 'b', model })
const mastra = new Mastra({ id: 'c', name: 'C', instructions: 'I', model })
const volt = new Volt({ name: 'D', instructions: 'I', model })

await launch(agent)
await launch(agent7)
await launch(mastra)
await launch(volt)
await launch([agent, mastra, { name: 'Mine', run: (prompt) => prompt.trim() }])
await serveStdio(volt)
const other = adapt(agent5, { name: 'A', timeoutMs: 5 })
createServer({ agents: [agent, other, agent7, mastra, volt, defineAgent(volt)] })
defineGroup({ name: 'All', agents: [agent, mastra] })

// What they return.
createServer({
  agents: [
    { name: '1', run: (prompt) => generateText({ model, prompt }) },
    { name: '2', run: (prompt) => streamText({ model, prompt }) },
    { name: '3', run: (prompt) => streamText({ model, prompt }).fullStream },
    { name: '4', run: (prompt) => streamText({ model, prompt }).textStream },
    { name: '5', run: (prompt) => generateText5({ model, prompt }) },
    { name: '6', run: (prompt) => streamText5({ model, prompt }) },
    { name: '7', run: (prompt) => generateText7({ model, prompt }) },
    { name: '8', run: (prompt) => streamText7({ model, prompt }) },
    { name: '9', run: (prompt, call) => agent.generate({ prompt, abortSignal: call.signal }) },
    { name: '10', run: (prompt) => agent.stream({ prompt }) },
    { name: '11', run: (prompt) => mastra.generate(prompt) },
    { name: '12', run: (prompt) => mastra.stream(prompt) },
    { name: '13', run: (prompt) => volt.generateText(prompt) },
    { name: '14', run: (prompt) => volt.streamText(prompt) },
  ],
})

// @ts-expect-error a misspelled member
createServer({ agents: [agent, { name: 'A', rum: (prompt: string) => prompt }] })
// @ts-expect-error an option that is not known
adapt(agent, { nam: 'A' })
// @ts-expect-error a model is no agent
createServer({ agents: [{ doGenerate: () => '', doStream: () => '' }] })
