/**
 * Skills over MCP: their list, one of them, and what lies in their folders. Their files are resources.
 * Spec: https://modelcontextprotocol.io/seps/2640-skills-extension.
 */
import { allowed } from '../../kernel/define/principal.ts'
import { Later } from '../../kernel/util/later.ts'
import { lateMethod } from '../mcp/methods/extension.ts'
import { META } from '../mcp/protocol/revisions.ts'
import { page } from '../mcp/request/lists.ts'
import { skillEntry } from '../../floors/skills/skill-set.ts'
import type { SkillSet } from '../../floors/skills/skill-set.ts'
import type { McpExtension, McpMethod } from '../mcp/methods/extension.ts'
import type { Item } from '../mcp/request/lists.ts'
import type { McpRequest } from '../mcp/request/request.ts'

/** The name of the extension. */
const SKILLS = `${META}skills`

const later = new Later(() => import('./skill-methods.ts'))

export function skills(skillSet: SkillSet): McpExtension {
  return () => {
    const isOffered = (): boolean => skillSet.skills.length > 0
    const method = (name: keyof typeof later.loaded.skillMethods): McpMethod => ({
      run: lateMethod(later, ({ skillMethods }) => skillMethods[name].bind(undefined, skillSet)),
      isOffered,
    })
    const items = ({ origin }: McpRequest): readonly Item[] => (
      allowed(origin.principal, skillSet.skills).map((skill) => (
        { name: skill.uri, shown: skillEntry(skill) }
      ))
    )
    return {
      methods: {
        'skills/list': { run: (request) => page(request, 'skills', items), isOffered },
        'skills/get': method('getSkill'),
        'resources/directory/read': method('readDirectory'),
      },
      settings: ({ extensible }) => isOffered() && extensible ? { [SKILLS]: { directoryRead: true } } : {},
    }
  }
}
