/**
 * `/llms.txt`: what is served and where, for models that look for it: Markdown with links.
 * Spec: https://llmstxt.org
 */
import { allowed } from '../../define/principal.ts'
import type { Exchange, Reply } from '../../http/message/exchange.ts'
import type { Service } from '../../run/service.ts'

/** The interfaces, by the path that shows that they are served, with what a model can do there. */
const interfaces: readonly (readonly [path: string, name: string, what: string])[] = [
  ['/mcp', 'MCP', 'tools, resources and prompts, over Streamable HTTP'],
  ['/.well-known/agent-card.json', 'A2A agent card', 'how to send messages to the agent'],
  ['/v1/chat/completions', 'OpenAI', 'chat completions, the agents are the models'],
  ['/v1/responses', 'OpenAI Responses', 'responses, the agents are the models'],
  ['/agui', 'AG-UI', 'runs of the main agent'],
  ['/openapi.json', 'OpenAPI', 'every path with its schemas'],
  ['/docs', 'Documentation', 'a page for people, to try everything on'],
]

/** Answers with what the caller may use. `paths`: those that are served. */
export function readLlms(service: Service, exchange: Exchange, paths: readonly string[]): Reply {
  const { catalog } = service
  const { baseUrl, basePath, origin: { principal } } = exchange
  const known = new Set(paths)
  const hasHttp = known.has(`${basePath}/tools`) || known.has(`${basePath}/agents`)
  const line = (title: string, path: string | undefined, what: string): string => {
    const named = path === undefined ? plain(title) : `[${plain(title)}](${baseUrl}${path})`
    return `- ${named}${what === '' ? '' : `: ${plain(what)}`}`
  }
  const agents = allowed(principal, [...catalog.groups, ...catalog.agents])
  const tools = allowed(principal, catalog.tools)
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Agents', agents.map(({ id, name, description }) => (
      line(name, hasHttp ? `/agents/${id}` : undefined, description)
    ))],
    ['Tools', tools.map(({ name, description }) => (
      line(name, hasHttp ? `/tools/${name}` : undefined, description)
    ))],
    ['Skills', allowed(principal, service.skillSet.skills).map(({ path, name, description }) => (
      line(name, known.has(`${basePath}/skills`) ? `/skills/${path}/SKILL.md` : undefined, description)
    ))],
    ['Interfaces', interfaces.flatMap(([path, title, what]) => (
      known.has(basePath + path) || known.has(path) ? [line(title, path, what)] : []
    ))],
  ]
  const head = [`# ${plain(service.name)}`]
  if (service.description !== '') head.push(`> ${plain(service.description)}`)
  const body = [...head, ...sections.flatMap(([title, lines]) => (
    lines.length === 0 ? [] : [`## ${title}`, lines.join('\n')]
  ))].join('\n\n')
  const headers = ['Cache-Control', 'private, no-cache', 'Vary', 'Host']
  return { status: 200, type: 'text/plain; charset=utf-8', headers, body: `${body}\n` }
}

/** One line, in which nothing is a link or a heading. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[[\]\\]/g, '\\$&').trim()
}
