/**
 * The options of a compilation. `undefined` means the default, `Infinity` unlimited. The bounds are wide
 * enough for schemas that people write; what they stop is input that was made to be expensive.
 */
import { phraseOf } from './error.ts'
import { rejectUnknown } from './options.ts'

/** How to compile a schema. */
export interface CompileOptions {
  /** Whether `format` refuses values. Default: no. */
  readonly formats?: boolean | undefined
  /**
   * Whether absent properties get the `default` of their schema before the value is checked, in a copy of
   * it. Only where the schema applies in any case, so not in a branch of `anyOf`. Default: no.
   */
  readonly defaults?: boolean | undefined
  /** What `$ref` and `$schema` may name: URI to schema, or schemas with `$id`. Nothing is ever fetched. */
  readonly schemas?: Readonly<Record<string, JsonSchema>> | readonly JsonSchema[] | undefined
  /** Levels of subschemas in a schema. Default: 100. */
  readonly maxSchemaDepth?: number | undefined
  /** Subschemas in a schema and everything it refers to. Default: 20,000. */
  readonly maxSubschemas?: number | undefined
  /**
   * The work of compiling a schema and everything it refers to, in steps as those of `maxSteps`; a schema
   * that takes more is refused. Default: no bound, for schemas that a server's author wrote.
   */
  readonly maxCompileSteps?: number | undefined
  /**
   * Subschemas nested in one another by references while a value is checked. Default: 800, well within the
   * stack.
   */
  readonly maxDepth?: number | undefined
  /**
   * The work of checking one value, in steps of about a tenth of a microsecond; a value that takes more is
   * refused. Types and bounds cost next to nothing; patterns, formats, references and comparisons what they
   * are worth. To list what is wrong with a value takes as much again. Default: 500,000, some 50 ms.
   */
  readonly maxSteps?: number | undefined
  /** Errors collected for a value. Default: 20, more than anyone reads. */
  readonly maxErrors?: number | undefined
}

/** A JSON Schema: an object of keywords, or `true` (anything) and `false` (nothing). */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

type Bound = Exclude<keyof CompileOptions, 'schemas'>

/** The options with every default filled in. */
export type CompileLimits = { readonly [Name in Bound]-?: NonNullable<CompileOptions[Name]> }

const compileDefaults: CompileLimits = {
  formats: false,
  defaults: false,
  maxSchemaDepth: 100,
  maxSubschemas: 20_000,
  maxCompileSteps: Infinity,
  maxDepth: 800,
  maxSteps: 500_000,
  maxErrors: 20,
}

const known = [...Object.keys(compileDefaults), 'schemas']

/** The options with the defaults. Throws a TypeError for one that is not known, or not of its type. */
export function compileLimits(options: CompileOptions): CompileLimits {
  if (Object(options) !== options) {
    throw new TypeError('compile takes options as an object, as in { formats: true }')
  }
  rejectUnknown('compile', options, known)
  const limits = { ...compileDefaults }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || name === 'schemas') continue
    const isFlag = typeof Reflect.get(compileDefaults, name) === 'boolean'
    const isRight = isFlag ? typeof value === 'boolean' : typeof value === 'number' && value > 0
    const remedy = isFlag ? 'true or false' : 'a number above zero, or Infinity for no bound'
    if (!isRight) throw new TypeError(`compile has ${name} ${phraseOf(value)}; write ${remedy}`)
    Object.assign(limits, { [name]: value })
  }
  return limits
}
