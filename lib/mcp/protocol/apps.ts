/**
 * MCP Apps: which clients see the pages of tools.
 * Spec: https://modelcontextprotocol.io/extensions/apps, Client and Server Capability Negotiation.
 */
import { isRecord } from '../../define/content.ts'
import { META } from './revisions.ts'
import type { PeerInfo } from './client.ts'
import type { Revision } from './revisions.ts'

export const APPS: string = `${META}ui`
const MIME_TYPE = 'text/html;profile=mcp-app'

/** Whether tools have a `_meta` in a revision: in the others pages are only for clients that declare them. */
export function hasMeta({ members }: Revision): boolean {
  return members.tool.includes('_meta')
}

/**
 * Whether a client is shown the pages: one that declares the extension, and one of which nothing is known,
 * since it has no session.
 */
export function showsPages(peer: PeerInfo & { readonly session: unknown }): boolean {
  const { revision, abilities, session } = peer
  const settings = abilities.extensions[APPS]
  if (settings === undefined) {
    return session === undefined && revision.opening === 'initialize' && hasMeta(revision)
  }
  const types = isRecord(settings) ? settings['mimeTypes'] : undefined
  return !Array.isArray(types) || types.includes(MIME_TYPE)
}
