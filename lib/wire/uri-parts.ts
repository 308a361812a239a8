/**
 * What a URI template is made of once it is parsed, and the values that its variables may have. Types alone:
 * the parser, the way to a URI and the way back all speak of these.
 *
 * Spec: RFC 6570 §2, appendix A.
 */

/** A value of several: a list, or a record of names and values. */
export type Composite = readonly string[] | { readonly [key: string]: string }

/** What a variable may be given as. Undefined and null leave it out; an empty list or record does too. */
export type TemplateValue = string | number | boolean | null | undefined | Composite

/** Values by the variable's name. */
export type TemplateValues = Readonly<Record<string, TemplateValue>>

/** The prefix of a variable that has none. */
export const WHOLE: number = Number.MAX_SAFE_INTEGER

/** RFC 6570 appendix A: what an operator does. */
export interface Operator {
  readonly sign: string
  readonly first: string
  readonly separator: string
  readonly isNamed: boolean
  /** What follows the name of an empty value. */
  readonly ifEmpty: string
  /** Whether reserved characters stay as they are. */
  readonly isReserved: boolean
  /** The characters that end a value when a URI is read. */
  readonly stops: string
}

/** One variable in an expression. `max` is its prefix in characters. */
export interface Variable { readonly name: string; readonly max: number; readonly isExploded: boolean }

/** What stands between braces. */
export interface Expression { readonly operator: Operator; readonly variables: readonly Variable[] }

/** A piece of a template. A string is a piece of a URI already. */
export type Part = string | Expression
