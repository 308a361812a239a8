/** What is said of an object that may be meant as an agent, but is none of a framework that is known. */
import { membersOf } from './shape.ts'

/** What others call the function that answers. */
const verbs = [
  'generate', 'invoke', 'chat', 'ask', 'respond', 'query', 'complete', 'execute', 'call', 'prompt', 'process',
  'handle', 'send', 'start',
]

const MAX_SHOWN = 5

/**
 * A sentence with what was looked for, what is there, and how to write an agent that uses it. Undefined for
 * what has a `run`, and for what no author means as an agent: a plain object, one of the language.
 */
export function describeUnknown(thing: object): string | undefined {
  const has = membersOf(thing)
  const { name } = Object(has('constructor')) as { readonly name?: unknown }
  if (typeof has('run') === 'function' || typeof name !== 'string' || name === '') return undefined
  if (has('constructor') === Reflect.get(globalThis, name)) return undefined
  const functions = functionsOf(thing)
  const found = functions.length === 0 ? 'no function' : functions.slice(0, MAX_SHOWN).join(', ')
  const verb = verbs.find((one) => functions.includes(one)) ?? functions[0] ?? 'generate'
  return `This is an object of the class ${name} with ${found} and no 'run', and no agent of a framework `
    + `that is known. Write agents: [{ name: 'Helper', run: (prompt, call) => theirs.${verb}(prompt, `
    + '{ signal: call.signal }) }]'
}

/** The names of its functions, those of its classes too. No getter is called. */
function functionsOf(thing: object): readonly string[] {
  const names = new Set<string>()
  for (let one = thing; one !== Object.prototype && one !== null;) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(one))) {
      if (typeof value === 'function' && name !== 'constructor' && !name.startsWith('_')) names.add(name)
    }
    one = Object.getPrototypeOf(one) as object
  }
  return [...names]
}
