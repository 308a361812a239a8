/**
 * The one door for schemas that somebody else wrote: a client with its request, a model, another program.
 * What they make a server do is bounded before it is done.
 */
import { compileWithin } from './compile.ts'
import type { ValidateWithin } from './compile.ts'
import type { JsonSchema } from './limits.ts'

/**
 * Some 25 ms: several times what the largest schemas take that model providers accept, with 5,000 properties
 * and 1,000 constants.
 */
const MAX_COMPILE_STEPS = 250_000

/** As `compileWithin`, of a foreign schema. Throws `TypeError` for one that is broken, or too much work. */
export function compileForeign(
  schema: JsonSchema, options: { readonly formats?: boolean } = {},
): ValidateWithin {
  return compileWithin(schema, { ...options, maxCompileSteps: MAX_COMPILE_STEPS })
}
