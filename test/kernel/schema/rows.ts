/** Long lists, and the schema of a row. No test itself. */

/** An array of what a function makes of the numbers from 0. */
export function list<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index))
}

export const text = { type: 'string' }
export const row = {
  type: 'object',
  properties: {
    id: { type: 'integer', minimum: 0 },
    name: { type: 'string', minLength: 1, maxLength: 100 },
    mail: text,
    at: text,
    tags: { type: 'array', items: text, maxItems: 10 },
    price: { type: 'number', minimum: 0 },
    address: { type: 'object', properties: { street: text, city: text, zip: text }, required: ['street'] },
    ...Object.fromEntries(list(20, (at) => [`optional${at}`, text])),
  },
  required: ['id', 'name'],
  additionalProperties: false,
}

/** Each schema applies the next one twice. */
export const doubling = Object.fromEntries(list(40, (at) => {
  const next = { $ref: `#/$defs/${at + 1}` }
  return [String(at), at < 39 ? { allOf: [next, next] } : {}]
}))
