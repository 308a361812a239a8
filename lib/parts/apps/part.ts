/**
 * Pages of tools over MCP (MCP Apps): which clients are shown them, and which tools are for a page alone.
 * Spec: https://modelcontextprotocol.io/extensions/apps, Client and Server Capability Negotiation; SEP-1865.
 */
import { isRecord } from '../../kernel/define/content.ts'
import { metaWithUi } from '../../kernel/define/resource.ts'
import { locateResource } from '../../kernel/run/located-resource.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { mcpExtensionsOf } from '../mcp/methods/extension.ts'
import { META } from '../mcp/protocol/revisions.ts'
import { isForModels, isSameMediaType, PAGE_TYPE, toolUiOf } from './tool-ui.ts'
import type { Catalog } from '../../kernel/define/catalog.ts'
import type { Tool } from '../../kernel/define/tool.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { OpenExtension } from '../mcp/methods/extension.ts'
import type { Revision } from '../mcp/protocol/revisions.ts'
import type { McpContext } from '../mcp/request/context.ts'
import type { Peer } from '../mcp/session/session.ts'

/** The name of the extension, by which both sides declare it. */
const APPS = `${META}ui`

/** Whether tools have a `_meta` in a revision: in the others pages are only for clients that declare them. */
function hasMeta({ members }: Revision): boolean {
  return members.tool.includes('_meta')
}

/**
 * Whether a client is shown the pages: one that declares the extension, and one of which nothing is known,
 * since it has no session.
 */
function showsPages(peer: Peer): boolean {
  const { revision, abilities, session } = peer
  const settings = abilities.extensions[APPS]
  if (settings === undefined) {
    return session === undefined && revision.opening === 'initialize' && hasMeta(revision)
  }
  const types = isRecord(settings) ? settings['mimeTypes'] : undefined
  return !Array.isArray(types) || types.some((type) => isSameMediaType(type, PAGE_TYPE))
}

/** Clients read the page of a tool from this server. */
function requirePage(catalog: Catalog, { name, ui }: Tool): void {
  if (ui?.uri === undefined || locateResource(catalog, ui.uri) !== undefined) return
  throw new TypeError(`The tool '${name}' has the page '${ui.uri}', and no resource is there; write ui.html `
    + `or ui.file too, or add a resource with that uri before the tool`)
}

function pageExtension({ service: { catalog } }: McpContext): OpenExtension {
  /** Whether there is a tool with a page, or was. */
  let isOffered = false
  const note = (): void => { isOffered ||= catalog.tools.some(({ ui }) => ui !== undefined) }
  const check = (): void => { for (const tool of catalog.tools) requirePage(catalog, tool) }
  check()
  note()
  catalog.onCheck(check)
  catalog.onChange(note)
  return {
    tools: {
      viewOf: (peer) => String(showsPages(peer)),
      shown(tool, peer) {
        if (showsPages(peer)) return tool.ui === undefined ? {} : { _meta: metaWithUi(tool) }
        // Only a host with pages knows that some tools are not for its model.
        return isForModels(tool) ? {} : undefined
      },
    },
    settings: (revision) => isOffered && hasMeta(revision) ? { [APPS]: {} } : {},
  }
}

/** It has no options. */
export function apps(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('apps', options, [], arguments)
  return {
    name: 'apps',
    copy: kernelCopy,
    needs: ['mcp'],
    defines: { toolUi: toolUiOf },
    open(kernel) {
      mcpExtensionsOf(kernel).add('apps', pageExtension)
      return {}
    },
  }
}
