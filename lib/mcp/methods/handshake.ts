/**
 * How a client and this server find out about each other: `initialize` for the older revisions,
 * `server/discover` for those whose requests stand alone.
 */
import { isRecord } from '../../define/content.ts'
import { decodeAbilities, decodeClient } from '../protocol/client.ts'
import { cacheHints } from '../request/lists.ts'
import { newestNegotiated, revisionByName, revisions } from '../protocol/revisions.ts'
import { pick } from '../protocol/shape.ts'
import { TASKS } from '../tasks/task-extension.ts'
import type { McpContext } from '../request/context.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Handshake } from '../session/session.ts'
import type { McpRequest } from '../request/request.ts'

/** Reads the params of `initialize`; a sentence where they are wrong. An unknown revision is no mistake. */
export function decodeInitialize(params: unknown): Handshake | string {
  if (!isRecord(params)) return 'params must be an object'
  const { protocolVersion, capabilities, clientInfo } = params
  if (typeof protocolVersion !== 'string') return 'params.protocolVersion must be a string'
  if (capabilities !== undefined && !isRecord(capabilities)) return 'params.capabilities must be an object'
  if (clientInfo !== undefined && !isRecord(clientInfo)) return 'params.clientInfo must be an object'
  const asked = revisionByName.get(protocolVersion)
  const abilities = decodeAbilities(capabilities)
  return {
    revision: asked?.opening === 'initialize' ? asked : newestNegotiated,
    abilities,
    client: decodeClient(clientInfo, abilities),
  }
}

/** The JSON text of the result of `initialize`, put together once until the catalog changes. */
export function initializeText(mcp: McpContext, revision: Revision, hasStreams: boolean): string {
  const key = hasStreams ? `initialize ${revision.name}` : `initialize ${revision.name} without streams`
  let text = mcp.texts.get(key)
  if (text === undefined) {
    text = JSON.stringify({
      protocolVersion: revision.name,
      capabilities: capabilitiesOf(mcp, revision, hasStreams),
      serverInfo: pick('implementation', mcp.implementation, revision),
      ...mcp.options.instructions !== undefined && { instructions: mcp.options.instructions },
    })
    mcp.texts.set(key, text)
  }
  return text
}

/** `server/discover`. */
export function discover(request: McpRequest): object {
  const { mcp, peer } = request
  return {
    supportedVersions: revisions.map(({ name }) => name),
    capabilities: capabilitiesOf(mcp, peer.revision, true),
    ...mcp.options.instructions !== undefined && { instructions: mcp.options.instructions },
    ...cacheHints(request),
  }
}

/** What the server offers to a client of that revision. `hasStreams`: it can be told of changes. */
function capabilitiesOf(mcp: McpContext, revision: Revision, hasStreams: boolean): object {
  const { catalog } = mcp.service
  const listChanged = hasStreams ? { listChanged: true } : {}
  const resources = hasStreams ? { subscribe: true, listChanged: true } : {}
  const all: Readonly<Record<string, object | undefined>> = {
    tools: listChanged,
    resources: catalog.offers('resource') ? resources : undefined,
    prompts: catalog.offers('prompt') ? listChanged : undefined,
    logging: {},
    completions: catalog.offers('completion') ? {} : undefined,
    tasks: mcp.offersTasks ? { list: {}, cancel: {}, requests: { tools: { call: {} } } } : undefined,
  }
  const offered = Object.entries(all).filter(([name, value]) => (
    value !== undefined && revision.capabilities.has(name)
  ))
  const extensions = {
    ...mcp.options.extensions, ...revision.tasks === 'extension' && mcp.offersTasks && { [TASKS]: {} },
  }
  return {
    ...Object.fromEntries(offered), ...Object.keys(extensions).length > 0 && { extensions },
  }
}
