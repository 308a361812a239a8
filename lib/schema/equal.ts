/** Equality of JSON values (2020-12 core §4.2.2): by content, whatever the order of an object's members. */

// The stack is finite, and no honest value is nested so deeply. What stands for the rest is in no JSON text.
const DEEPEST = 500
const ABYSS = '\0'

/** Makes the test whether a value is equal to one of some; none is to what is nested too deeply. */
export function isAmong(values: readonly unknown[]): (value: unknown) => boolean {
  const simple = new Set(values)
  const deep = new Set(values.filter((value) => typeof value === 'object').map((value) => canonical(value)))
  for (const text of deep) if (String(text).includes(ABYSS)) deep.delete(text)
  return (value) => simple.has(value)
    || (deep.size > 0 && typeof value === 'object' && deep.has(canonical(value)))
}

/** Whether no two items are equal, in time proportional to their size. */
export function isUnique(items: readonly unknown[]): boolean {
  const known = new Set<unknown>()
  for (const [index, item] of items.entries()) if (known.add(canonical(item)).size === index) return false
  return true
}

/** JSON text that is the same for equal values, for strings, arrays and objects; other values as they are. */
export function canonical(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEEPEST) return ABYSS
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  const members = Object.entries(value).map(([name, item]) =>
    `${JSON.stringify(name)}:${canonical(item, depth + 1)}`)
  return `{${members.sort().join()}}`
}
