/**
 * Artifacts: named pieces of output, as an author gives them and in their normal form. Giving an id again
 * replaces its artifact, or adds to it; in a protocol without artifacts their parts follow the answer.
 */
import { blockOf, isPlainText, isRecord } from './content.ts'
import {
  checkMembers, must, mustBeFlag, mustBeText, mustBeTexts, requireDefinition, show,
} from './validate.ts'
import { randomUuid } from '../wire/random.ts'
import type { Content, ContentInput } from './content.ts'
import type { Checks } from './validate.ts'

/** A named piece of output; in a protocol that has none its parts are content. */
export interface ArtifactInput {
  /** Left out: an artifact of its own. */
  readonly id?: string
  readonly name?: string
  readonly description?: string
  readonly parts: readonly (string | ContentInput)[]
  /** Anything for programs. Dropped where the protocol has no artifacts. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Addresses of the extensions that it is written with. Dropped where the protocol has no artifacts. */
  readonly extensions?: readonly string[]
  /** Adds to the artifact of that id instead of replacing it. */
  readonly append?: boolean
  /** Whether nothing more will be added. Left out: true, unless `append` is given. */
  readonly last?: boolean
}

export interface Artifact extends Pick<ArtifactInput, 'name' | 'description' | 'metadata' | 'extensions'> {
  readonly id: string
  readonly parts: readonly Content[]
}

/** How an artifact changes a task. Left out: it replaces that of the same id, and is complete. */
export type ArtifactChange = Pick<ArtifactInput, 'append' | 'last'>

const artifactChecks: Checks<ArtifactInput> = {
  id: must((value) => typeof value === 'string' && value !== '', `write a text, as in 'report'`),
  name: mustBeText, description: mustBeText, parts: true, append: mustBeFlag, last: mustBeFlag,
  metadata: must(isRecord, 'write an object, or leave it out'),
  extensions: mustBeTexts(`['https://example.com/ext/report']`),
}

/**
 * The normal form of an artifact. Throws `Fault('internal')` for a part that is no content, `TypeError` for a
 * member that is not known, or cannot be what it is.
 */
export function artifactOf(input: ArtifactInput): Artifact {
  requireDefinition('call.artifact', input, `{ name: 'Report', parts: ['Done.'] }`)
  checkMembers('call.artifact', input, artifactChecks)
  const { id = randomUuid(), name, description, parts, metadata, extensions } = input
  if (!Array.isArray(parts)) {
    throw new TypeError(`call.artifact has parts ${show(parts)}; write a list, as in ['Done.']`)
  }
  return {
    id,
    ...name !== undefined && { name },
    ...description !== undefined && { description },
    parts: parts.map(blockOf),
    ...metadata !== undefined && { metadata },
    ...extensions !== undefined && { extensions },
  }
}

/**
 * A list with one more artifact: instead of that of the same id, or added to it with `append`.
 * `isJoined`: text that is added continues the text before it, and is no part of its own.
 */
export function addArtifact(
  list: readonly Artifact[], artifact: Artifact, append: boolean, isJoined = false,
): readonly Artifact[] {
  const at = list.findIndex(({ id }) => id === artifact.id)
  const known = list[at]
  if (known === undefined) return [...list, artifact]
  if (!append) return list.with(at, artifact)
  const metadata = artifact.metadata && { ...known.metadata, ...artifact.metadata }
  const parts = isJoined ? joined(known.parts, artifact.parts) : [...known.parts, ...artifact.parts]
  return list.with(at, { ...known, ...artifact, ...metadata !== undefined && { metadata }, parts })
}

function joined(before: readonly Content[], more: readonly Content[]): readonly Content[] {
  const parts = [...before]
  for (const part of more) {
    const last = parts.at(-1)
    if (isPlainText(part) && last !== undefined && isPlainText(last)) {
      parts[parts.length - 1] = { type: 'text', text: last.text + part.text }
    } else {
      parts.push(part)
    }
  }
  return parts
}
