/**
 * Skills. Their files are resources; plain HTTP, cards and pages show them by `floors/skills/`. Over MCP:
 * their list, one of them, and what lies in their folders.
 * Spec: https://modelcontextprotocol.io/seps/2640-skills-extension.
 */
import { allowed } from '../../kernel/define/principal.ts'
import { rejectMore } from '../../kernel/define/validate.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { Later } from '../../kernel/util/later.ts'
import { lateMethod, mcpExtensionsOf } from '../mcp/methods/extension.ts'
import { META } from '../mcp/protocol/revisions.ts'
import { page } from '../mcp/request/lists.ts'
import { serveSkills, skillEntry } from '../../floors/skills/skill-set.ts'
import { defineSkills } from './skill.ts'
import type { SkillSet } from '../../floors/skills/skill-set.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { OpenExtension } from '../mcp/methods/extension.ts'
import type { Item } from '../mcp/request/lists.ts'
import type { McpRequest } from '../mcp/request/request.ts'
import type { SkillsInput } from './skill.ts'

/** The name of the extension. */
const SKILLS = `${META}skills`

const later = new Later(() => import('./skill-methods.ts'))

/** Throws `TypeError` with a sentence for every mistake in the skills. */
export function skills(given: SkillsInput): Part {
  rejectMore('skills', arguments, `write skills(['./one', './two'])`)
  const skillSet = defineSkills(given)
  return {
    name: 'skills',
    copy: kernelCopy,
    optionNames: [],
    defines: { resources: [...skillSet.files.values()] },
    open(kernel) {
      serveSkills(kernel, skillSet)
      // Nobody asks for it where MCP is not served.
      mcpExtensionsOf(kernel).add('skills', () => skillExtension(skillSet))
      return {}
    },
  }
}

function skillExtension(skillSet: SkillSet): OpenExtension {
  const isOffered = (): boolean => skillSet.skills.length > 0
  const items = ({ origin }: McpRequest): readonly Item[] => (
    allowed(origin.principal, skillSet.skills).map((skill) => (
      { name: skill.uri, show: () => skillEntry(skill) }
    ))
  )
  return {
    methods: {
      'skills/list': { run: (request) => page(request, 'skills', items), isOffered },
      'skills/get': {
        run: lateMethod(later, ({ getSkill }) => getSkill.bind(undefined, skillSet)), isOffered,
      },
      'resources/directory/read': {
        run: lateMethod(later, ({ readDirectory }) => readDirectory.bind(undefined, skillSet)), isOffered,
      },
    },
    settings: ({ extensible }) => isOffered() && extensible ? { [SKILLS]: { directoryRead: true } } : {},
  }
}
