/**
 * What the MCP registry's `server.json` and a server card (SEP-2127) have in common: the name of a server,
 * what they say of it, and how it is reached.
 */

const MAX_NAME = 200
/** The longest title, and the longest description. */
export const MAX_REGISTRY_TEXT = 100

const NAME = /^[a-zA-Z\d](?:[a-zA-Z\d.-]*[a-zA-Z\d])?\/[a-zA-Z\d](?:[a-zA-Z\d._-]*[a-zA-Z\d])?$/

/** Whether it is a server's name in reverse-DNS form, as in `com.example/shop`. */
export function isRegistryName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME && NAME.test(value)
}

/**
 * A server that is reached by its address. `isKeyed`: callers need a key. What is secret is left to the
 * client as a variable.
 */
export function remoteOf(url: string, isKeyed: boolean): object {
  if (!isKeyed) return { type: 'streamable-http', url }
  const key = { description: 'The key of this server', isRequired: true, isSecret: true }
  const header = { name: 'Authorization', isRequired: true, isSecret: true, value: 'Bearer {key}' }
  return { type: 'streamable-http', url, headers: [{ ...header, variables: { key } }] }
}
