/** One skill, and the folders of skills, over MCP: loaded when the first of these methods is called. */
import { Fault } from '../../kernel/define/fault.ts'
import { allowed, hasScopes } from '../../kernel/define/principal.ts'
import { sentenceWithin } from '../../kernel/wire/bounded.ts'
import { normalUri } from '../../kernel/wire/uri.ts'
import { pick } from '../mcp/protocol/shape.ts'
import { cacheHints, pageOf } from '../mcp/request/lists.ts'
import { nameParam } from '../mcp/request/request.ts'
import { skillEntry, uriOf } from '../../floors/skills/skill-set.ts'
import type { SkillSet } from '../../floors/skills/skill-set.ts'
import type { McpResult } from '../mcp/methods/extension.ts'
import type { Item } from '../mcp/request/lists.ts'
import type { McpRequest } from '../mcp/request/request.ts'

const FOLDER_TYPE = 'inode/directory'

/** `skills/get`. */
export function getSkill({ skills }: SkillSet, request: McpRequest): McpResult {
  const uri = nameParam(request, 'uri')
  const { origin: { principal } } = request
  const skill = allowed(principal, skills).find((one) => normalUri(one.uri) === normalUri(uri))
  if (skill === undefined) {
    throw new Fault('invalid', `No skill is served at ${sentenceWithin(uri)}; skills/list has those that are`)
  }
  return { skill: skillEntry(skill), ...cacheHints(request) }
}

/** `resources/directory/read`: what lies directly in a folder. */
export function readDirectory({ files, folders }: SkillSet, request: McpRequest): McpResult {
  const uri = nameParam(request, 'uri')
  const { origin: { principal }, peer: { revision } } = request
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
    return { name: shown.uri, show: () => pick('resource', { ...shown }, revision) }
  })
  if (items.length > 0 || folder?.size === 0) return pageOf(request, 'resources', items)
  throw new Fault('invalid', `${sentenceWithin(uri)} is no folder of a skill here`)
}
