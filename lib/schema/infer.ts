/**
 * A schema's type to the type of the values it describes; nothing of it exists at run time.
 *
 * Reads the shapes that tools use: the seven types, objects with `properties` and `required`, `items`,
 * `enum`, `const`, unions. What it cannot read is `unknown`, and a schema that is no literal describes a
 * record of unknowns. It resolves no `$ref`, so it stays fast.
 *
 * For literals inside a call, take the schema by a `const` type parameter:
 * `function defineTool<const S extends Schema>(tool: { inputSchema: S, run(args: Infer<S>): unknown })`.
 */

/**
 * What a handler gets: the output type of a Standard Schema, or the type that a literal JSON Schema spells,
 * in which a property that has a default is there.
 */
export type Infer<S> =
  S extends { readonly '~standard': infer Standard } ? Side<Standard, 'output'>
  : unknown extends Json<S, true> ? Record<string, unknown>
  : Json<S, true>

type Side<Standard, Name extends 'input' | 'output'> =
  Standard extends { readonly types?: infer Types }
    ? NonNullable<Types> extends { readonly [Key in Name]: infer Value } ? Value : unknown
    : unknown

/** `Filled`: whether defaults are filled in here, which they are not in the branches of a union. */
type Json<S, Filled> =
  S extends { readonly const: infer Value } ? Value
  : S extends { readonly enum: readonly (infer Value)[] } ? Value
  : S extends { readonly type: readonly (infer Name)[] } ? Typed<S, Name, Filled>
  : S extends { readonly type: infer Name } ? Typed<S, Name, Filled>
  : S extends { readonly anyOf: readonly (infer Branch)[] } ? Json<Branch, false>
  : S extends { readonly oneOf: readonly (infer Branch)[] } ? Json<Branch, false>
  : S extends { readonly properties: unknown } ? Members<S, Filled>
  : unknown

type Typed<S, Name, Filled> =
  string extends Name ? unknown
  : Name extends 'string' ? string
  : Name extends 'number' | 'integer' ? number
  : Name extends 'boolean' ? boolean
  : Name extends 'null' ? null
  : Name extends 'array' ? S extends { readonly items: infer Item } ? Json<Item, Filled>[] : unknown[]
  : Name extends 'object' ? Members<S, Filled>
  : unknown

type Members<S, Filled> =
  S extends { readonly properties: infer Properties }
    ? Flat<
      & { -readonly [Name in Present<S, Properties, Filled>]-?: Json<Properties[Name], Filled> }
      & { -readonly [Name in Exclude<keyof Properties, Present<S, Properties, Filled>>]?:
        Json<Properties[Name], Filled> }
    >
    : S extends { readonly additionalProperties: infer Rest extends object }
      ? Record<string, Json<Rest, false>>
    : Record<string, unknown>

/** The names of the properties that are there: those that are required, and those that have a default. */
type Present<S, Properties, Filled> =
  | Extract<keyof Properties, Required<S>>
  | (Filled extends true
    ? { [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never }[
      keyof Properties]
    : never)

type Required<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never

type Flat<T> = { [Key in keyof T]: T[Key] }
