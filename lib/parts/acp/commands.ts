/** Prompts as slash commands: `/praise pears` is the prompt `praise`. Spec: ACP 1, Slash Commands. */
import { allowed, anonymous } from '../../kernel/define/principal.ts'
import type { Catalog } from '../../kernel/define/catalog.ts'
import type { Prompt } from '../../kernel/define/prompt.ts'

/** A prompt with its arguments, as a message names them. */
export interface Command {
  readonly name: string
  readonly args: Readonly<Record<string, string>>
}

/** The commands of a server, as clients list them. */
export function commandsOf(catalog: Catalog): readonly object[] {
  return allowed(anonymous, catalog.prompts).map(({ name, description, arguments: args }) => (
    { name, description, ...args.length > 0 && { input: { hint: args.map(hintOf).join(' ') } } }
  ))
}

function hintOf({ name, required }: Prompt['arguments'][number]): string {
  return required === true ? name : `[${name}]`
}

/** The command that a message begins with; undefined: none that is known. */
export function commandIn(catalog: Catalog, message: string): Command | undefined {
  const [, name = '', rest = ''] = /^\/([\w.-]+)(?:\s+([^]*))?$/.exec(message) ?? []
  const prompt = allowed(anonymous, catalog.prompts).find((one) => one.name === name)
  return prompt && { name, args: argumentsIn(rest.trim(), prompt.arguments.map((one) => one.name)) }
}

/** A word for each, and for the last all that remains. */
function argumentsIn(text: string, names: readonly string[]): Readonly<Record<string, string>> {
  const args: Record<string, string> = {}
  let rest = text
  for (const [index, name] of names.entries()) {
    if (rest === '') break
    const [word] = index === names.length - 1 ? [rest] : /^\S+/.exec(rest) ?? [rest]
    args[name] = word
    rest = rest.slice(word.length).trimStart()
  }
  return args
}
