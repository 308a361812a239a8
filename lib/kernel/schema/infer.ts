/**
 * A schema's type to the type of the values it describes. Reads the shapes that tools use: the seven types,
 * objects with `properties` and `required`, `items`, `enum`, `const`, unions. What it cannot read is
 * `unknown`. It resolves no `$ref`, so it stays fast.
 *
 * For literals inside a call, take the schema by a `const` type parameter: `function defineTool<const S
 * extends Schema>(tool: { inputSchema: S, run(args: Infer<S>): unknown })`.
 */

/**
 * What a handler gets: the output type of a Standard Schema, or the type that a literal JSON Schema
 * describes, in which a property that has a default is there. A schema that is no literal gives a record of
 * unknowns.
 */
export type Infer<S> = ValueOf<S, 'filled'>

/** What a client answers: the same without defaults, which are not filled in. */
export type InferAnswer<S> = Readonly<ValueOf<S, 'plain'>>

type ValueOf<S, As extends How> =
  S extends { readonly '~standard': infer Standard } ? SideOf<Standard, 'output'>
  : unknown extends Json<S, As> ? Record<string, unknown>
  : Json<S, As>

/**
 * What a handler must give: the input type of a Standard Schema, or the type that a literal JSON Schema
 * describes. A schema that is no literal asks for nothing.
 */
export type InferGiven<S> =
  S extends { readonly '~standard': infer Standard } ? Frozen<SideOf<Standard, 'input'>> : Json<S, 'given'>

type SideOf<Standard, Name extends 'input' | 'output'> =
  Standard extends { readonly types?: infer Types }
    ? NonNullable<Types> extends { readonly [Key in Name]: infer Value } ? Value : unknown
    : unknown

/**
 * `filled`: the value has its defaults. `plain`: it may lack them, as in the branch of a union. `given`: the
 * same, and it belongs to the caller, so it may be readonly, of a class, and have members that are undefined.
 */
type How = 'filled' | 'plain' | 'given'

/** How it is in a part of the value where defaults are not filled in. */
type Unfilled<As extends How> = As extends 'filled' ? 'plain' : As

type Json<S, As extends How> =
  S extends { readonly const: infer Value } ? Value
  : S extends { readonly enum: readonly (infer Value)[] } ? Value
  : S extends { readonly type: readonly (infer Name)[] } ? Typed<S, Name, As>
  : S extends { readonly type: infer Name } ? Typed<S, Name, As>
  : S extends { readonly anyOf: readonly (infer Branch)[] } ? Json<Branch, Unfilled<As>>
  : S extends { readonly oneOf: readonly (infer Branch)[] } ? Json<Branch, Unfilled<As>>
  : S extends { readonly properties: unknown } ? Members<S, As>
  : unknown

type Typed<S, Name, As extends How> =
  string extends Name ? unknown
  : Name extends 'string' ? string
  : Name extends 'number' | 'integer' ? number
  : Name extends 'boolean' ? boolean
  : Name extends 'null' ? null
  : Name extends 'array' ? Items<S extends { readonly items: infer Item } ? Json<Item, As> : unknown, As>
  : Name extends 'object' ? Members<S, As>
  : unknown

type Items<Item, As extends How> = As extends 'given' ? readonly Item[] : Item[]

type Members<S, As extends How> =
  S extends { readonly properties: infer Properties }
    ? Flat<
      & { -readonly [Name in Present<S, Properties, As>]-?: Json<Properties[Name], As> }
      & { -readonly [Name in Exclude<keyof Properties, Present<S, Properties, As>>]?:
        Json<Properties[Name], As> | (As extends 'given' ? undefined : never) }
    >
    : S extends { readonly additionalProperties: infer Rest extends object }
      ? Record<string, Json<Rest, Unfilled<As>>>
    : As extends 'given' ? object : Record<string, unknown>

/** The names of the properties that are there: those that are required, and those that are filled in. */
type Present<S, Properties, As extends How> =
  | Extract<keyof Properties, RequiredName<S>>
  | (As extends 'filled' ? WithDefault<Properties> : never)

type WithDefault<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never
}[keyof Properties]

type RequiredName<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never

/** The same, readonly all the way down. */
type Frozen<T> =
  T extends (...args: never) => unknown ? T
  : T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> }
  : T

type Flat<T> = { [Key in keyof T]: T[Key] }
