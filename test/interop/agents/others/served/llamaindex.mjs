/** What `triport serve` serves for a test: functions that return what an agent of LlamaIndex gives. */
import { openai } from '@llamaindex/openai'
import { agent } from '@llamaindex/workflow'

const llm = openai({ model: 'gpt-4o', apiKey: 'key', baseURL: process.env.OPENAI_BASE_URL, maxRetries: 0 })
const one = agent({ name: 'helper', llm, tools: [] })

export const agents = [
  { name: 'run', timeoutMs: 2_000, run: (prompt) => one.run(prompt) },
  { name: 'stream', timeoutMs: 2_000, run: (prompt) => one.runStream(prompt) },
]
