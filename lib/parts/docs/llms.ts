/**
 * `/llms.txt`: what is served and where, for models that look for it: Markdown with links.
 * Spec: https://llmstxt.org
 */
import { allowed } from '../../kernel/define/principal.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'

const CARD = '/.well-known/agent-card.json'

/** Paths that are listed where they are served, with what a model can do there. */
const interfaces: readonly (readonly [path: string, name: string, what: string])[] = [
  ['/mcp', 'MCP', 'tools, resources and prompts, over Streamable HTTP'],
  [CARD, 'A2A agent card', 'how to send messages to the agent'],
  ['/v1/chat/completions', 'OpenAI', 'chat completions, the agents are the models'],
  ['/v1/responses', 'OpenAI Responses', 'responses, the agents are the models'],
  ['/agui', 'AG-UI', 'runs of the main agent'],
  ['/ui-stream', 'AI SDK', 'the chat of the main agent, for useChat'],
  ['/openapi.json', 'OpenAPI', 'every path with its schemas'],
]

/** Answers with what the caller may use. `paths`: those that are served. */
export function readLlms(service: Service, exchange: Exchange, paths: readonly string[]): Reply {
  const { catalog, skillSet } = service
  const { baseUrl, basePath, origin: { principal } } = exchange
  const known = new Set(paths)
  const has = (path: string): boolean => known.has(basePath + path)
  const line = (title: string, path: string, what: string): string => (
    `- [${plain(title)}](${baseUrl}${path})${what === '' ? '' : `: ${plain(what)}`}`
  )
  const agents = allowed(principal, [...catalog.groups, ...catalog.agents])
  const tools = allowed(principal, catalog.tools)
  const skills = allowed(principal, skillSet.skills)
  // Every line needs a link: where plain HTTP is not served, to that by which the thing is reached.
  const agentAt = (id: string): string => (
    has('/agents') ? `/agents/${id}` : has(CARD) ? `/agents/${id}${CARD}` : '/mcp'
  )
  const other = has('/mcp') ? '/mcp' : CARD
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Agents', agents.map(({ id, name, description }) => line(name, agentAt(id), description))],
    ['Tools', tools.map(({ name, description }) => (
      line(name, has('/tools') ? `/tools/${name}` : other, description)
    ))],
    ['Skills', skills.map(({ name, path, description }) => (
      line(name, has('/skills') ? `/skills/${encodeURI(path)}/SKILL.md` : other, description)
    ))],
    ['Interfaces', interfaces.flatMap(([path, title, what]) => has(path) ? [line(title, path, what)] : [])],
    // What may be skipped has this name.
    ['Optional', [line('Documentation', '/docs', 'a page for people, to try everything on')]],
  ]
  const usage = [
    ...has('/agents') && agents.length > 0 ? ['POST `{"query": "…"}` to an agent asks it.'] : [],
    ...has('/tools') && tools.length > 0 ? ['POST its arguments to a tool calls it.'] : [],
  ]
  const body = [
    `# ${plain(service.name)}`,
    ...service.description === '' ? [] : [`> ${plain(service.description)}`],
    ...usage.length === 0 ? [] : [usage.join(' ')],
    ...sections.flatMap(([title, lines]) => lines.length === 0 ? [] : [`## ${title}`, lines.join('\n')]),
  ].join('\n\n')
  const headers = ['Cache-Control', 'private, no-cache', 'Vary', 'Host']
  return { status: 200, type: 'text/plain; charset=utf-8', headers, body: `${body}\n` }
}

/** One line, in which nothing is a link or a heading. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[[\]\\]/g, '\\$&').trim()
}
