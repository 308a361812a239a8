/** What other frameworks call a member of a definition, and what to write here. */
import type { ServedKind } from '../../kernel/define/validate.ts'

type Words = ReadonlyMap<string, string>

const words: ReadonlyMap<ServedKind, Words> = new Map([
  ['tool', wordsOf([
    ['parameters params args argsSchema schema input', `write it as 'inputSchema'`],
    ['output responseSchema returns', `write it as 'outputSchema'`],
    ['execute handler func fn callback call action', `its function is 'run'`],
    ['needsApproval requireApproval', 'ask in run, by call.elicit, before you do it'],
    ['id', `write it as 'name'`],
  ])],
  ['agent', wordsOf([
    ['inputSchema parameters params args argsSchema schema', 'an agent gets a text; what takes arguments is '
      + `a tool: put it into 'tools'`],
    ['execute handler func fn callback call action', `its function is 'run'`],
    ['instructions system systemPrompt prompt model llm tools', 'an agent is a function: ask the model in '
      + `run, or write openaiAgent({ name: 'Helper', model: '…', instructions: '…', tools: [] })`],
  ])],
])

function wordsOf(rows: readonly (readonly [names: string, remedy: string])[]): Words {
  return new Map(rows.flatMap(([names, remedy]) => names.split(' ').map((name) => [name, remedy] as const)))
}

export function foreignWords(kind: ServedKind): Words | undefined {
  return words.get(kind)
}
