/**
 * What a handler may ask a client, and what comes back: of its user, of its model, of its folders.
 *
 * Knows no way of asking; a door's line carries the question (`call.ts`).
 * Spec: MCP 2026-07-28, Elicitation, Sampling, Roots.
 */

/** What a client may be able to do when it is asked. `elicit-url` is an elicitation that opens an address. */
export type Ability = 'elicit' | 'elicit-url' | 'sample' | 'roots'

/** A form to fill in. `schema` is a flat object schema (MCP `ElicitRequestFormParams`). */
export interface FormQuestion {
  readonly key?: string
  readonly message: string
  readonly schema: { readonly [keyword: string]: unknown }
}

/** An address to open, for what must not pass through the client (MCP `ElicitRequestURLParams`). */
export interface UrlQuestion { readonly key?: string; readonly message: string; readonly url: string }

/** What came of an elicitation. `content` only with `accept` of a form. */
export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, unknown>>
}

/** A request to the client's model (MCP `CreateMessageRequestParams`; further members are passed on). */
export interface SampleQuestion {
  readonly key?: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: unknown }[]
  readonly maxTokens: number
  readonly [parameter: string]: unknown
}

/** What the client's model said. */
export interface SampleAnswer {
  readonly role: 'user' | 'assistant'
  readonly content: unknown
  readonly model: string
  readonly stopReason?: string
}

/** A folder or an address that the client opens to the server. */
export interface Root { readonly uri: string; readonly name?: string }

/** A question as a door carries it. */
export type Question =
  | ({ readonly what: 'elicit' } & FormQuestion)
  | ({ readonly what: 'elicit-url' } & UrlQuestion)
  | ({ readonly what: 'sample' } & SampleQuestion)
  | { readonly what: 'roots'; readonly key?: string }
