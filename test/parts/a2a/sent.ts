/** A value as the other side gets it: without members that are undefined. */
export function sent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
