/** Compiled by a test, not run: each agent is taken as it is, and mistakes are told. */
import { HttpAgent } from '@ag-ui/client'
import { ClientFactory } from '@a2a-js/sdk/client'
import { InMemoryRunner, LlmAgent } from '@google/adk'
import { createAgent, createNetwork, openai as inngestOpenai } from '@inngest/agent-kit'
import { openai } from '@llamaindex/openai'
import { agent as llamaAgent, multiAgent } from '@llamaindex/workflow'
import { genkit, z } from 'genkit'
import { Agent as PraisonAgent } from 'praisonai'
import { adapt, createServer, defineAgent, defineGroup, launch, serveStdio } from 'triport'

const runner = new InMemoryRunner({ agent: new LlmAgent({ name: 'helper' }), appName: 'app' })
const llama = llamaAgent({ name: 'Helper', llm: openai({ model: 'm' }), tools: [] })
const several = multiAgent({ agents: [llama], rootAgent: llama })
const ai = genkit({})
const flow = ai.defineFlow('helper', async (prompt: string) => prompt)
const streaming = ai.defineFlow(
  { name: 'streaming', inputSchema: z.string(), outputSchema: z.string(), streamSchema: z.string() },
  async (prompt, { sendChunk }) => {
    sendChunk(prompt)
    return prompt
  },
)
const inngest = createAgent({ name: 'Helper', system: 'S', model: inngestOpenai({ model: 'gpt-4o' }) })
const network = createNetwork({ name: 'Helpers', agents: [inngest] })
const praison = new PraisonAgent({ name: 'Helper', instructions: 'I' })
const agUi = new HttpAgent({ agentId: 'Helper', url: 'http://a.example' })
const client = await new ClientFactory().createFromUrl('http://a.example')

await launch(runner)
await launch(llama)
await launch(several)
await launch(flow)
await launch(streaming)
await launch(inngest)
await launch(network)
await launch(praison)
await launch(agUi)
await launch(client)
await launch([runner, llama])
await launch([runner, { name: 'Mine', run: (prompt) => prompt.trim() }, (prompt) => prompt.trim()])
await launch({ agents: [runner, llama, several, flow, streaming, inngest, network, praison, agUi, client] })
createServer({ agents: [runner, llama, several, flow, streaming, inngest, network, praison, agUi, client] })
await serveStdio(runner)
defineGroup({ name: 'All', agents: [runner, flow, { name: 'Mine', run: (prompt) => prompt.trim() }] })
defineAgent(praison)
adapt(runner, { name: 'Other', description: 'D', timeoutMs: 5, scopes: ['a'] })
adapt(flow)

// What they return.
createServer({
  agents: [
    { name: 'A', run: (prompt, { signal: abortSignal }) => runner.runAsync({
      userId: 'u', sessionId: 's', newMessage: { role: 'user', parts: [{ text: prompt }] }, abortSignal,
    }) },
    { name: 'B', run: (prompt) => llama.runStream(prompt) },
    { name: 'C', run: (prompt) => llama.run(prompt) },
    { name: 'D', run: (prompt) => flow(prompt) },
    { name: 'E', run: (prompt) => ai.generate(prompt) },
    { name: 'F', run: (prompt) => ai.generateStream(prompt) },
    { name: 'G', run: (prompt) => inngest.run(prompt) },
    { name: 'H', run: (prompt) => network.run(prompt) },
    { name: 'I', run: (prompt) => praison.chat(prompt) },
    { name: 'J', run: () => agUi.runAgent() },
  ],
})

// @ts-expect-error a misspelled member
createServer({ agents: [{ name: 'A', rum: (prompt: string) => prompt }] })
// @ts-expect-error the same beside another
await launch([runner, { name: 'A', rum: (prompt: string) => prompt }])
// @ts-expect-error a number is no name
createServer({ agents: [{ name: 1, run: (prompt: string) => prompt }] })
// @ts-expect-error an option that is not known
adapt(runner, { nam: 'A' })
// @ts-expect-error what runs it is its framework's
adapt(runner, { run: () => '' })
// @ts-expect-error no agent
adapt({ name: 'A' })
// @ts-expect-error no agent
await launch({ foo: 1 })
