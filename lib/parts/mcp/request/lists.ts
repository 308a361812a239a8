/**
 * Lists of what the caller may use, page by page. The text of a first page is made once per revision and set
 * of scopes until the catalog changes. A cursor is sealed and names the last item, so it works after changes
 * and in other processes.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { allowed } from '../../../kernel/define/principal.ts'
import { readableResources } from '../../../kernel/run/located-resource.ts'
import { isName } from '../../../kernel/wire/bounded.ts'
import { formatJson } from '../../../kernel/wire/json.ts'
import { pick, toolDescriptor } from '../protocol/shape.ts'
import type { Tool } from '../../../kernel/define/tool.ts'
import type { McpRequest } from './request.ts'
import type { Peer } from '../session/session.ts'

/** Only those of one page are shown. */
export interface Item { readonly name: string; show(): object }

/** How clients see tools. */
export interface ToolsView {
  /** Names what makes two clients of one revision see different tools. Left out: nothing does. */
  viewOf?(peer: Peer): string
  /** Members that the client sees besides, or in the place of others; undefined: it sees no such tool. */
  shown(tool: Tool, peer: Peer): Readonly<Record<string, unknown>> | undefined
}

type List = 'resources' | 'resourceTemplates' | 'prompts'

const PAGE_SIZE = 1_000
const PURPOSE = 'mcp cursor'
const CURSOR_MS = 365 * 24 * 60 * 60_000

type Items = (request: McpRequest) => readonly Item[]

/** What is listed besides tools. */
export const listItems: Readonly<Record<List, Items>> = {
  resources: ({ mcp: { service: { catalog } }, origin, peer: { revision } }) => (
    readableResources(catalog, origin.principal).map((resource) => (
      { name: resource.uri, show: () => pick('resource', { ...resource }, revision) }
    ))
  ),
  resourceTemplates: ({ mcp, origin, peer: { revision } }) => (
    allowed(origin.principal, mcp.service.catalog.templates).map((template) => (
      { name: template.uriTemplate, show: () => pick('template', { ...template }, revision) }
    ))
  ),
  prompts: ({ mcp, origin, peer: { revision } }) => (
    allowed(origin.principal, mcp.service.catalog.prompts).map((prompt) => ({
      name: prompt.name,
      show() {
        const args = prompt.arguments.map((argument) => pick('argument', { ...argument }, revision))
        const description = prompt.description || undefined
        return pick('prompt', { ...prompt, description, arguments: args }, revision)
      },
    }))
  ),
}

/** Whether the client has declared an extension: then it may read `_meta`. */
function hasExtensions({ abilities }: Peer): boolean {
  for (const _name in abilities.extensions) return true
  return false
}

/** The same of `tools/list`. */
export function toolPage(views: readonly ToolsView[], request: McpRequest): string {
  const { peer } = request
  let view = String(hasExtensions(peer))
  for (const one of views) if (one.viewOf !== undefined) view += ` ${one.viewOf(peer)}`
  return page(request, 'tools', toolItems.bind(undefined, views), view)
}

function toolItems(views: readonly ToolsView[], { mcp, origin, peer }: McpRequest): readonly Item[] {
  return allowed(origin.principal, mcp.tools.listed).flatMap((tool) => {
    const members = views.map((view) => view.shown(tool, peer))
    if (members.includes(undefined)) return []
    const more = Object.assign({}, ...members)
    const show = (): object => toolDescriptor(tool, peer.revision, hasExtensions(peer), more)
    return [{ name: tool.name, show }]
  })
}

/**
 * The JSON text of the page of `params.cursor`. `view`: of which of several lists. Throws `Fault('invalid')`
 * for a foreign cursor.
 */
export function page(request: McpRequest, member: string, items: Items, view: string = ''): string {
  const { mcp, params, origin, peer } = request
  const { cursor } = params
  if (cursor !== undefined) return pageOf(request, member, items(request))
  const key = `${member} ${peer.revision.name} ${view} ${mcp.service.catalog.viewOf(origin.principal)}`
  let text = mcp.texts.get(key)
  if (text === undefined) {
    text = pageOf(request, member, items(request))
    mcp.texts.set(key, text)
  }
  return text
}

/** `owner`: the items are one owner's, in the falling order of their names, and come and go. */
export function pageOf(request: McpRequest, member: string, items: readonly Item[], owner?: string): string {
  const { mcp, params: { cursor }, peer } = request
  const purpose = owner === undefined ? `${PURPOSE} ${member}` : `${PURPOSE} ${member} ${owner}`
  const opened = isName(cursor) ? mcp.seal.open(purpose, cursor) : undefined
  const from = cursor === undefined ? 0 : startOf(items, opened, owner !== undefined)
  const until = from + (mcp.options.pageSize ?? PAGE_SIZE)
  const shown = items.slice(from, until)
  const last = shown.at(-1)
  const nextCursor = until < items.length && last !== undefined
    ? mcp.seal.seal(purpose, { name: last.name, index: until - 1 }, Date.now() + CURSOR_MS)
    : undefined
  const result = { [member]: shown.map((item) => item.show()), nextCursor }
  return formatJson(peer.revision.stamps
    ? { resultType: 'complete', ...result, ...cacheHints(request), _meta: request.stamp }
    : result)
}

/**
 * The index behind the item that the cursor names; where that is gone, its former index, or in a list that is
 * `sorted` by falling names that of the next name.
 */
function startOf(items: readonly Item[], after: unknown, sorted: boolean): number {
  if (!isRecord(after) || typeof after['index'] !== 'number' || typeof after['name'] !== 'string') {
    throw new Fault('invalid', 'params.cursor is not one that this server gave, or it has expired')
  }
  if (sorted) {
    const { name: last } = after
    const next = items.findIndex(({ name }) => name < last)
    return next < 0 ? items.length : next
  }
  const found = items.findIndex(({ name }) => name === after['name'])
  return found < 0 ? after['index'] : found + 1
}

/** Nothing in revisions that have none. */
export function cacheHints({ mcp, params: { inputResponses, requestState }, peer }: McpRequest): object {
  if (!peer.revision.stamps) return {}
  // What depends on a user's answers is not for a cache.
  const isAnswered = inputResponses !== undefined || requestState !== undefined
  const { ttlMs = 0, scope = 'private' } = isAnswered ? {} : mcp.options.cache ?? {}
  // Where scopes decide what a caller sees, it is nobody else's.
  return { ttlMs, cacheScope: mcp.service.catalog.scopes.length > 0 ? 'private' : scope }
}
