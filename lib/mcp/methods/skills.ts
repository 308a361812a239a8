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
  const items = new Map<string, Item>()
  const folder = normalUri(uri)
  for (const [path, file] of skillSet.files) {
    if (!hasScopes(principal, file.scopes)) continue
    const own = normalUri(file.uri)
    if (!own.startsWith(`${folder}/`) || folder === 'skill:/') continue
    const parts = path.split('/')
    const depth = folder.slice('skill://'.length).split('/').length
    if (parts.length === depth + 1) {
      items.set(own, { name: own, shown: pick('resource', { ...file }, revision) })
    } else {
      const below = uriOf(parts.slice(0, depth + 1).join('/'))
      items.set(below, { name: below, shown: { uri: below, name: parts[depth], mimeType: FOLDER_TYPE } })
    }
  }
  if (items.size > 0) return pageOf(request, 'resources', [...items.values()])
  throw new Fault('invalid', `${sentenceWithin(uri)} is no folder of a skill here`)
}
