/**
 * `/llms.txt`: what is served and where, for models that look for it: Markdown with links.
 * Spec: https://llmstxt.org
 */
import { allowed } from '../../kernel/define/principal.ts'
import { skillSetOf } from '../../floors/skills/skill-set.ts'
import type { Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Kernel } from '../../kernel/server/part.ts'

const description = { path: '/openapi.json', title: 'OpenAPI', text: 'every path with its schemas' }

/** Answers with what the caller may use. */
export function readLlms(kernel: Kernel, exchange: Exchange): Reply {
  const { catalog } = kernel
  const { baseUrl, origin: { principal } } = exchange
  const offered = kernel.endpoints().flatMap(({ path, about, isOffered }) => (
    about === undefined || isOffered?.() === false ? [] : [{ path, ...about }]
  )).toSorted((one, other) => one.rank - other.rank)
  const interfaces = [...offered.filter(({ path }) => !path.includes('{')), description]
  // Every line needs a link: what has no path of its own is reached by the first interface.
  const [{ path: other } = description] = interfaces
  const placeOf = (name: string): { readonly path: string; readonly text: string } => (
    offered.find(({ path }) => path.includes(`{${name}}`)) ?? { path: other, text: '' }
  )
  const line = (title: string, path: string, what: string): string => (
    `- [${plain(title)}](${baseUrl}${path})${what === '' ? '' : `: ${plain(what)}`}`
  )
  const agents = allowed(principal, [...catalog.groups, ...catalog.agents])
  const tools = allowed(principal, catalog.tools)
  const skills = allowed(principal, skillSetOf(kernel).skills)
  const [agent, tool, skill] = [placeOf('agent'), placeOf('tool'), placeOf('skill')]
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Agents', agents.map(({ id, name, description }) => (
      line(name, agent.path.replace('{agent}', () => id), description)
    ))],
    ['Tools', tools.map(({ name, description }) => (
      line(name, tool.path.replace('{tool}', () => name), description)
    ))],
    ['Skills', skills.map(({ name, path, description }) => (
      line(name, skill.path.replace('{skill}/{file*}', () => `${encodeURI(path)}/SKILL.md`), description)
    ))],
    ['Interfaces', interfaces.map(({ path, title = '', text }) => line(title, path, text))],
    // What may be skipped has this name.
    ['Optional', [line('Documentation', '/docs', 'a page for people, to try everything on')]],
  ]
  const usage = [agents.length > 0 ? agent.text : '', tools.length > 0 ? tool.text : '']
    .filter((text) => text !== '')
  const body = [
    `# ${plain(kernel.name)}`,
    ...kernel.description === '' ? [] : [`> ${plain(kernel.description)}`],
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
