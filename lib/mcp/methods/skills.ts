/**
 * Skills: one of them, and what lies in a folder of them. Their files are read as resources.
 * Spec: https://modelcontextprotocol.io/seps/2640-skills-extension.
 */
import { Fault } from '../../define/fault.ts'
import { skillEntry, uriOf } from '../../define/files/skill.ts'
import { allowed, hasScopes } from '../../define/principal.ts'
import { sentenceWithin } from '../../wire/bounded.ts'
import { normalUri } from '../../wire/uri.ts'
import { META } from '../protocol/revisions.ts'
import { pick } from '../protocol/shape.ts'
import { cacheHints, pageOf } from '../request/lists.ts'
import type { Item } from '../request/lists.ts'
import type { McpRequest } from '../request/request.ts'

export const SKILLS: string = `${META}skills`
const FOLDER_TYPE = 'inode/directory'

function uriIn({ params: { uri } }: McpRequest): string {
  if (typeof uri === 'string') return uri
  throw new Fault('invalid', 'params.uri must be a string')
}

/** `skills/get` */
export function getSkill(request: McpRequest): object {
  const uri = uriIn(request)
  const { mcp: { service: { skillSet } }, origin: { principal }, peer: { revision } } = request
  const skill = allowed(principal, skillSet.skills).find((one) => normalUri(one.uri) === normalUri(uri))
  if (skill === undefined) {
    throw new Fault('invalid', `No skill is served at ${sentenceWithin(uri)}; skills/list has those that are`)
  }
  return { skill: skillEntry(skill), ...revision.stamps ? cacheHints(request) : {} }
}

/** `resources/directory/read`: what lies directly in a folder. */
export function readDirectory(request: McpRequest): string {
  const uri = uriIn(request)
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
    const shown = files.get(path) ?? { uri: uriOf(path), name: nameOf(path), mimeType: FOLDER_TYPE }
    return { name: shown.uri, shown: pick('resource', { ...shown }, revision) }
  })
  if (items.length > 0 || folder?.size === 0) return pageOf(request, 'resources', items)
  throw new Fault('invalid', `${sentenceWithin(uri)} is no folder of a skill here`)
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
