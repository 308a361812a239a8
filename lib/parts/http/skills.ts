/** Skills over plain HTTP: their list, one of them, and each of its files. They are read from memory. */
import { Fault } from '../../kernel/define/fault.ts'
import { skillEntry, skillSetOf } from '../../floors/skills/skill-set.ts'
import { allowed, requireScopes } from '../../kernel/define/principal.ts'
import { sentenceWithin } from '../../kernel/wire/bounded.ts'
import { boundedJson, endpoint, listHandler } from '../../floors/reply/reply.ts'
import { describedBy, describedEach, readings, withUnderscores } from './catalog.ts'
import type { ServedSkill } from '../../floors/skills/skill-set.ts'
import type { Endpoint, Exchange, Reply } from '../../kernel/http/message/exchange.ts'
import type { Service } from '../../kernel/run/service.ts'
import type { MaybePromise } from '../../kernel/util/thenable.ts'

/** The paths of skills. */
export function skillEndpoints(service: Service): readonly Endpoint[] {
  const skills = (): readonly ServedSkill[] => skillSetOf(service).skills
  const one = (
    path: string, name: 'describeSkills' | 'describeSkillFiles', about?: Endpoint['about'],
  ): Endpoint => endpoint(service, {
    method: 'GET',
    path,
    about,
    describe: describedEach((operations) => operations[name], skills),
    load: readings.load,
    work: (exchange) => answerSkill(service, exchange),
  })
  return [
    endpoint(service, {
      method: 'GET', path: '/skills', describe: describedBy('GET', 'skills'),
      isOffered: () => skills().length > 0,
      work: listHandler(service, (principal) => ({ skills: allowed(principal, skills()).map(shown) })),
    }),
    one('/skills/{skill}', 'describeSkills'),
    one('/skills/{skill}/{file*}', 'describeSkillFiles', { text: '', rank: 1 }),
  ]
}

function shown(skill: ServedSkill): object {
  const { path, name, description } = skill
  return { name, description, path: `/skills/${path}`, ...skillEntry(skill) }
}

const inOtherSpelling = ({ path }: ServedSkill): string => withUnderscores(path)

/** A skill may lie in folders, so a path of several parts may be a skill, or a file of one. */
function answerSkill(service: Service, exchange: Exchange): MaybePromise<Reply> {
  const { params, origin, basePath } = exchange
  const { skills, files } = skillSetOf(service)
  const { limits } = service
  const rest = params.get('file')
  const path = `${params.get('skill')}${rest === undefined ? '' : `/${rest}`}`
  const skill = skills.find((one) => one.path === path) ?? skills.find((one) => inOtherSpelling(one) === path)
  if (skill !== undefined) {
    requireScopes(origin, skill.scopes)
    return boundedJson(shown(skill), limits)
  }
  const folder = skills.find((one) => path.startsWith(`${inOtherSpelling(one)}/`))?.path
  const file = files.get(path)
    ?? (folder === undefined ? undefined : files.get(folder + path.slice(folder.length)))
  if (file === undefined) {
    throw new Fault('not-found', `There is no skill '${sentenceWithin(path)}' here, and no file of one; `
      + `GET ${basePath}/skills lists those there are`)
  }
  return readings.loaded.answerResource(service, exchange, file.uri)
}
