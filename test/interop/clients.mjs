/**
 * The table of the clients that are driven here, each as it comes: what works with which version. A test says
 * by `shows` what it is about, and the table has what came to its end:
 *
 *     export CLIENTS=/tmp/clients; node --test *.mjs …; node clients.mjs "$CLIENTS"
 *
 * An empty cell without a reason is a fault.
 */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Two turns have a tool in each; where a client has none of its own, that of the agent is seen. */
const columns = ['two turns', 'tool', 'reasoning', 'stream', 'question', 'error']

const noForm = 'OpenAI\'s API has no question to a user'
const noThought = 'MCP has no place for reasoning'
const openai = { question: noForm }
const mcp = { reasoning: noThought }
const host = {
  ...mcp, stream: 'a page is given whole results', question: 'its client is asked, which is MCP client 2',
}
const quiet = { ...mcp, stream: 'it asks for no progress' }
const a2a = { reasoning: 'A2A has no place for reasoning' }
const chat = { question: 'a chat has no form; agents ask by its tools' }

/** By what `shows` calls it: the client, its package, the folder of that, and why it cannot have a cell. */
const clients = {
  'openai-chat': ['OpenAI SDK, chat', 'openai', '', openai],
  'openai-responses': ['OpenAI SDK, responses', 'openai', '', openai],
  'agents-sdk': ['OpenAI Agents SDK', '@openai/agents', 'agents/langchain', openai],
  'langchain': ['LangChain, chat', '@langchain/openai', 'agents/langchain', openai],
  'langchain-responses': ['LangChain, responses', '@langchain/openai', 'agents/langchain', openai],
  'openai-2': ['AI SDK 5, OpenAI', 'openai-2', 'agents/vercel', openai],
  'openai-3': ['AI SDK 6, OpenAI', 'openai-3', 'agents/vercel', openai],
  '@ai-sdk/openai': ['AI SDK 7, OpenAI', '@ai-sdk/openai', 'agents/vercel', openai],
  '@ai-sdk/open-responses': ['AI SDK 7, Open Responses', '@ai-sdk/open-responses', 'agents/vercel', openai],
  'openai-compatible-3': ['AI SDK 7, compatible', 'openai-compatible-3', 'agents/vercel', openai],
  'ai5': ['AI SDK 5, chat of a page', 'ai5', 'agents/vercel', chat],
  'ai': ['AI SDK 6, chat of a page', 'ai', 'agents/vercel', chat],
  'ai7': ['AI SDK 7, chat of a page', 'ai7', 'agents/vercel', chat],
  'codex': ['Codex', '@openai/codex', 'codex', {}],
  'ag-ui': ['AG-UI', '@ag-ui/client', '', {}],
  'copilotkit': ['CopilotKit', '@copilotkit/runtime', 'copilotkit', {}],
  'mcp-1': ['MCP SDK 1', '@modelcontextprotocol/sdk', '', mcp],
  'mcp-2-session': ['MCP client 2, session', '@modelcontextprotocol/client', '', mcp],
  'mcp-2': ['MCP client 2, no session', '@modelcontextprotocol/client', '', mcp],
  'mcp-apps': ['MCP Apps host', '@modelcontextprotocol/ext-apps', 'apps', host],
  'ai-sdk-mcp': ['AI SDK 7, MCP', '@ai-sdk/mcp', 'apps', quiet],
  'a2a-jsonrpc': ['A2A SDK 1, JSON-RPC', '@a2a-js/sdk', '', a2a],
  'a2a-rest': ['A2A SDK 1, HTTP+JSON', '@a2a-js/sdk', '', a2a],
  'a2a-1-as-0.3': ['A2A SDK 1, as 0.3', '@a2a-js/sdk', '', a2a],
  'a2a-0.3': ['A2A SDK 0.3', 'a2a-sdk-0.3', '', a2a],
  'a2a-0.2': ['A2A SDK 0.2', 'a2a-sdk-0.2', '', a2a],
  'acp-2': ['ACP SDK 2', '@agentclientprotocol/sdk', '', {}],
  'acp-0.4': ['ACP SDK 0.4', 'acp-0.4', '', {}],
}

/** Notes what a test is about, when it has passed. Each of `cells` is a column. */
export function shows(t, client, ...cells) {
  for (const cell of cells) {
    assert.ok(columns.includes(cell), `there is no column '${cell}'`)
    assert.equal(clients[client]?.[3][cell], undefined, `${client} cannot have '${cell}'`)
  }
  t.after(() => {
    if (!t.passed || !process.env.CLIENTS) return
    for (const cell of cells) appendFileSync(process.env.CLIENTS, `${client}\t${cell}\n`)
  })
}

/** What is installed of a package, by its own name. */
function installed(name, folder) {
  const file = new URL(`${folder && `${folder}/`}node_modules/${name}/package.json`, import.meta.url)
  const about = JSON.parse(readFileSync(file))
  return `${about.name} ${about.version}`
}

/** The table as Markdown, of what tests have noted, and what is missing in it. */
function tableOf(noted) {
  const reasons = []
  const missing = []
  const rows = Object.entries(clients).map(([id, [client, from, folder, without]]) => [
    client, installed(from, folder), ...columns.map((column) => {
      if (noted.has(`${id}\t${column}`)) return 'yes'
      const why = without[column]
      if (why === undefined) {
        missing.push(`${client}: ${column}`)
        return ''
      }
      if (!reasons.includes(why)) reasons.push(why)
      return `– (${reasons.indexOf(why) + 1})`
    }),
  ])
  const head = ['client', 'package', ...columns]
  const lines = [head, head.map(() => '---'), ...rows].map((line) => `| ${line.join(' | ')} |`)
  const notes = reasons.map((why, at) => `${at + 1}. ${why}`)
  return { text: [...lines, '', ...notes].join('\n'), missing }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] !== undefined) {
  const { text, missing } = tableOf(new Set(readFileSync(process.argv[2], 'utf8').split('\n')))
  console.log(text)
  for (const cell of missing) console.log(`not ok no test fills ${cell}`)
  if (missing.length > 0) process.exitCode = 1
}
