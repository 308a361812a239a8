/**
 * Methods beside those of tools: loaded when the first of these is called.
 * Spec of skills: https://modelcontextprotocol.io/seps/2640-skills-extension.
 */
import { isRecord } from '../../../kernel/define/content.ts'
import { Fault } from '../../../kernel/define/fault.ts'
import { skillEntry, uriOf } from '../../skills/skill.ts'
import { allowed, hasScopes } from '../../../kernel/define/principal.ts'
import { complete, getPrompt, readResource } from '../../../kernel/run/reading.ts'
import { andThen, isThenable } from '../../../kernel/util/thenable.ts'
import { sentenceWithin } from '../../../kernel/wire/bounded.ts'
import { normalUri } from '../../../kernel/wire/uri.ts'
import { openCall } from '../request/call-channel.ts'
import { cacheHints, pageOf } from '../request/lists.ts'
import { nameParam } from '../request/request.ts'
import { pick, promptResult } from '../protocol/shape.ts'
import type { Item } from '../request/lists.ts'
import type { McpRequest } from '../request/request.ts'
import type { McpMethod, McpResult } from './extension.ts'

export { listen } from './listen.ts'


const FOLDER_TYPE = 'inode/directory'

function read(request: McpRequest): McpResult {
  const uri = nameParam(request, 'uri')
  const { mcp, peer } = request
  const call = openCall(request, ['resources/read', uri])
  const cache = peer.revision.stamps ? cacheHints(request) : {}
  const missing = (error: unknown): never => {
    // A handler's own fault gets the address too.
    if (error instanceof Fault && error.kind === 'not-found') {
      const detail = { ...isRecord(error.detail) && error.detail, uri: sentenceWithin(uri) }
      throw new Fault('not-found', error.message, detail)
    }
    throw error
  }
  try {
    const contents = readResource(mcp.service, uri, call, peer.session?.workload)
    if (!isThenable(contents)) return { contents, ...cache }
    return contents.then((later) => ({ contents: later, ...cache }), missing)
  } catch (error) {
    return missing(error)
  }
}

/** `skills/get` */
function getSkill(request: McpRequest): McpResult {
  const uri = nameParam(request, 'uri')
  const { mcp: { service: { skillSet } }, origin: { principal }, peer: { revision } } = request
  const skill = allowed(principal, skillSet.skills).find((one) => normalUri(one.uri) === normalUri(uri))
  if (skill === undefined) {
    throw new Fault('invalid', `No skill is served at ${sentenceWithin(uri)}; skills/list has those that are`)
  }
  return { skill: skillEntry(skill), ...revision.stamps ? cacheHints(request) : {} }
}

/** `resources/directory/read`: what lies directly in a folder. */
function readDirectory(request: McpRequest): McpResult {
  const uri = nameParam(request, 'uri')
  const { mcp: { service: { skillSet } }, origin: { principal }, peer: { revision } } = request
  const { files, folders } = skillSet
  const isAllowed = (path: string): boolean => {
    const file = files.get(path)
    if (file !== undefined) return hasScopes(principal, file.scopes)
    const inside = folders.get(normalUri(uriOf(path)))
    return inside?.size === 0 || [...inside ?? []].some(isAllowed)
  }
  const folder = folders.get(normalUri(uri))
  const items = [...folder ?? []].filter(isAllowed).map((path): Item => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const shown = files.get(path) ?? { uri: uriOf(path), name, mimeType: FOLDER_TYPE }
    return { name: shown.uri, shown: pick('resource', { ...shown }, revision) }
  })
  if (items.length > 0 || folder?.size === 0) return pageOf(request, 'resources', items)
  throw new Fault('invalid', `${sentenceWithin(uri)} is no folder of a skill here`)
}

function prompt(request: McpRequest): McpResult {
  const name = nameParam(request, 'name')
  const { mcp, params: { arguments: args = {} }, peer: { revision, session } } = request
  const call = openCall(request, ['prompts/get', name, args])
  const result = getPrompt(mcp.service, name, args, call, session?.workload)
  return andThen(result, (prompt) => promptResult(prompt, revision))
}

function completion(request: McpRequest): McpResult {
  const { mcp, params: { ref, argument, context }, peer: { session } } = request
  const result = complete(mcp.service, ref, argument, context, openCall(request), session?.workload)
  return andThen(result, (completion) => ({ completion }))
}

export type OtherMethod = 'read' | 'readDirectory' | 'getSkill' | 'prompt' | 'completion'

export const otherMethods: Readonly<Record<OtherMethod, McpMethod['run']>> = {
  read, readDirectory, getSkill, prompt, completion,
}
