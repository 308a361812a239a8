/**
 * A schema's type to the type of the values it describes; nothing of it exists at run time.
 *
 * Reads the shapes that tools use: the seven types, objects with `properties` and `required`, `items`,
 * `enum`, `const`, unions. What it cannot read is `unknown`, and a schema that is no literal describes a
 * record of unknowns. It resolves no `$ref`, so it stays fast.
 *
 * A handler gets the output type of a Standard Schema, or the type that a literal JSON Schema spells. For
 * literals inside a call, take the schema by a `const` type parameter: `function defineTool<const S extends
 * Schema>(tool: { inputSchema: S, run(args: Infer<S>): unknown })`.
 */
export type Infer<S> =
  S extends { readonly '~standard': infer Standard } ? Output<Standard>
  : unknown extends Json<S> ? Record<string, unknown>
  : Json<S>

type Output<Standard> =
  Standard extends { readonly types?: infer Types }
    ? NonNullable<Types> extends { readonly output: infer Out } ? Out : unknown
    : unknown

type Json<S> =
  S extends { readonly const: infer Value } ? Value
  : S extends { readonly enum: readonly (infer Value)[] } ? Value
  : S extends { readonly type: readonly (infer Name)[] } ? Typed<S, Name>
  : S extends { readonly type: infer Name } ? Typed<S, Name>
  : S extends { readonly anyOf: readonly (infer Branch)[] } ? Json<Branch>
  : S extends { readonly oneOf: readonly (infer Branch)[] } ? Json<Branch>
  : S extends { readonly properties: unknown } ? Members<S>
  : unknown

type Typed<S, Name> =
  string extends Name ? unknown
  : Name extends 'string' ? string
  : Name extends 'number' | 'integer' ? number
  : Name extends 'boolean' ? boolean
  : Name extends 'null' ? null
  : Name extends 'array' ? S extends { readonly items: infer Item } ? Json<Item>[] : unknown[]
  : Name extends 'object' ? Members<S>
  : unknown

type Members<S> =
  S extends { readonly properties: infer Properties }
    ? Flat<
      & { -readonly [Name in keyof Properties as Extract<Name, Required<S>>]-?: Json<Properties[Name]> }
      & { -readonly [Name in keyof Properties as Exclude<Name, Required<S>>]?: Json<Properties[Name]> }
    >
    : S extends { readonly additionalProperties: infer Rest extends object } ? Record<string, Json<Rest>>
    : Record<string, unknown>

type Required<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never

type Flat<T> = { [Key in keyof T]: T[Key] }
