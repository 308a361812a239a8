/**
 * Runs that ask their user. Each step goes as far as an agent can go alone: to its answer, or to questions.
 * Where a question runs the handler again from the top, the steps before it are not run again.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { formatJson } from '../../kernel/wire/json.ts'
import { Paragraphs } from './work.ts'
import type { Call } from '../../kernel/define/call.ts'
import type { Shown } from '../../kernel/define/adapters.ts'

/**
 * Yields what a user sees. Returns what the next step goes on from, as JSON, where something is to be asked
 * before; undefined: that was the last one.
 */
export type AgentStep<State> = AsyncGenerator<Shown, State | undefined>

/**
 * Runs one step after the other, with what `ask` resolves to between them. `owner` is the same in each run of
 * the handler, and another one for each agent.
 */
export async function* runSteps<State, Answers>(
  call: Call, owner: string, step: (state?: State, answers?: Answers) => AgentStep<State>,
  ask: (state: State) => Promise<Answers>,
): AsyncGenerator<Shown, void> {
  const key = `${owner}-${countRun(call, owner)}`
  const paragraphs = new Paragraphs()
  let state = yield* runOnce(call, `${key}-1`, false, step, paragraphs)
  for (let number = 2; state !== undefined; number++) {
    const before = state
    const answers = await ask(before)
    state = yield* runOnce(call, `${key}-${number}`, true, () => step(before, answers), paragraphs)
  }
}

/** How often each owner has run within a call: an agent may stand in a group twice. */
const runs = new WeakMap<AbortSignal, Map<string, number>>()

function countRun({ signal }: Call, owner: string): number {
  // All members of a group share the signal, and have calls of their own.
  const counts = runs.get(signal) ?? new Map<string, number>()
  const count = (counts.get(owner) ?? 0) + 1
  runs.set(signal, counts.set(owner, count))
  return count
}

interface Kept<State> { readonly shown: readonly Shown[]; readonly state: State | undefined }

/**
 * Runs a step, or shows again what it showed when it ran and what came of it. What was done with an answer
 * (`isAnswered`) is not done twice: another agent of a group may ask next.
 */
async function* runOnce<State>(
  call: Call, key: string, isAnswered: boolean, step: () => AgentStep<State>, paragraphs: Paragraphs,
): AgentStep<State> {
  let keep: (kept: string) => void = () => {}
  let forget: (reason: Error) => void = () => {}
  let kept = Promise.resolve('')
  const isNew = await new Promise<boolean>((resolve) => {
    kept = call.once(key, () => {
      resolve(true)
      return new Promise<string>((...settle) => { [keep, forget] = settle })
    })
    kept.then(() => resolve(false), () => resolve(false))
  })
  if (!isNew) {
    const { shown, state } = unpack<State>(await kept)
    for (const one of shown) yield inParagraph(key, one, paragraphs)
    return state
  }
  const run = step()
  const shown: Shown[] = []
  try {
    for (;;) {
      const next = await run.next()
      if (next.done === true) {
        if (next.value === undefined && !isAnswered) return undefined
        try {
          keep(pack({ shown, state: next.value }))
        } catch (error) {
          forget(error instanceof Error ? error : new Error(String(error)))
        }
        // An answer that is too large to be kept is one all the same.
        await (next.value === undefined ? kept.catch(() => '') : kept)
        return next.value
      }
      shown.push(next.value)
      yield inParagraph(key, next.value, paragraphs)
    }
  } finally {
    // A first step that asks nothing, or one that has failed, is not kept.
    forget(new Error('Nothing is to be asked'))
    await run.return(undefined)
  }
}

/** Its text as part of a step's, which is a paragraph of its own. */
function inParagraph(step: string, shown: Shown, paragraphs: Paragraphs): Shown {
  if (typeof shown === 'string') return paragraphs.next(step, shown)
  return shown.text === undefined ? shown : { ...shown, text: paragraphs.next(step, shown.text) }
}

/** Bytes of a step as JSON. What is kept of it, packed, has a smaller bound of its own. */
const MAX_STEP_BYTES = 64 * 1024 * 1024

// Whole conversations: a tenth of their size as they are.

function pack(kept: Kept<unknown>): string {
  const json = Buffer.from(formatJson(kept))
  if (json.length > MAX_STEP_BYTES) {
    throw new RangeError(`What an agent goes on from is larger than ${MAX_STEP_BYTES} bytes`)
  }
  return deflateRawSync(json).toString('base64')
}

function unpack<State>(packed: string): Kept<State> {
  const json = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_STEP_BYTES })
  return JSON.parse(json.toString()) as Kept<State>
}
