/** The skills of a server, as protocols show them: folders of instructions for a model. */
import type { Resource } from '../../kernel/define/resource.ts'
import type { Service } from '../../kernel/run/service.ts'

/** A file of a skill, with the SHA-256 and the length of its bytes. */
export interface SkillFile { readonly uri: string; readonly digest: string; readonly size: number }

/** A skill, ready to be served. */
export interface ServedSkill {
  /** Its folder, as in `billing/refunds`: the last part is its name. */
  readonly path: string
  /** Of its SKILL.md. */
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly frontmatter: Readonly<Record<string, unknown>>
  /** All its files, SKILL.md first. */
  readonly resources: readonly SkillFile[]
  readonly scopes: readonly string[]
}

/** All skills of a server, and the resources that their files are, by their paths: `refunds/SKILL.md`. */
export interface SkillSet {
  readonly skills: readonly ServedSkill[]
  readonly files: ReadonlyMap<string, Resource>
  /** The paths that lie directly in a folder, by the normal form of its address. */
  readonly folders: ReadonlyMap<string, ReadonlySet<string>>
}

function makeFloor(): { skillSet: SkillSet } {
  return { skillSet: { skills: [], files: new Map(), folders: new Map() } }
}

/** Those of a server, when all parts are open. */
export function skillSetOf(service: Service): SkillSet {
  return service.use(makeFloor).skillSet
}

/** Called while parts are opened, by the one that has skills. */
export function serveSkills(service: Service, skillSet: SkillSet): void {
  service.use(makeFloor).skillSet = skillSet
}

/** What clients get of a skill. */
export function skillEntry({ uri, frontmatter, resources }: ServedSkill): object {
  return { uri, frontmatter, resources }
}

/** The address of a path below all skills. */
export function uriOf(path: string): string {
  return `skill://${path.split('/').map(encodeURIComponent).join('/')}`
}
