/**
 * What a request says, in a query, a form or a JSON object: each name once. Spec: RFC 6749 §3.1, §3.2.
 */
import { OauthRefusal } from './oauth-refusal.ts'

/** A form has a client's id and a sealed login, each of some kilobytes. */
const MAX_FORM = 65_536

/** The parameters of a query or a form. One that is empty is as if it were left out. */
export class OauthParameters {
  readonly #values = new Map<string, string>()
  readonly #repeated = new Set<string>()

  /** Throws `OauthRefusal` for a text that is too long. */
  constructor(text: string) {
    if (text.length > MAX_FORM) {
      const sentence = `The parameters have more than ${MAX_FORM} characters`
      throw new OauthRefusal('invalid_request', sentence, 413)
    }
    for (const [name, value] of new URLSearchParams(text)) {
      if (this.#values.has(name)) this.#repeated.add(name)
      this.#values.set(name, value)
    }
  }

  get(name: string): string | undefined { return this.#values.get(name) || undefined }

  isRepeated(name: string): boolean { return this.#repeated.has(name) }

  /** Why they cannot be read: one that stands twice may mean the one thing here and the other elsewhere. */
  get objection(): OauthRefusal | undefined {
    return this.#repeated.size === 0 ? undefined
      : new OauthRefusal('invalid_request', 'A parameter stands twice; send each once')
  }

  requireOnce(): void {
    if (this.objection !== undefined) throw this.objection
  }
}

/** Whether a member stands twice in the outermost object of a JSON text, of which a parser keeps the last. */
export function repeatsMember(json: string): boolean {
  const names = new Set<unknown>()
  let depth = 0
  let last = ''
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (token !== ':') last = token
    else if (depth === 1) {
      const name: unknown = JSON.parse(last)
      if (names.has(name)) return true
      names.add(name)
    }
  }
  return false
}
