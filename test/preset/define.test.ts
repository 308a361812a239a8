/** What is defined where the frameworks are known: mistakes are told in the words of theirs. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createServer, defineAgent, defineTool } from '../../lib/index.ts'
import type { AgentDefinition, StandardSchema, ToolDefinition } from '../../lib/index.ts'

const run = (): string => 'ok'
/** What a shape of zod is made of. */
const standard: StandardSchema = {
  '~standard': { version: 1, vendor: 'zod', validate: (value) => ({ value }) },
}

const agents: readonly (readonly [definition: unknown, sentence: RegExp])[] = [
  [{ name: 'Helper', run, model: 'x' },
    /^The agent 'Helper' has no option 'model'; an agent is a function: ask the model in run, or/],
  [{ name: 'Helper', run, instructions: 'x' }, /has no option 'instructions'; an agent is a function: ask/],
  [{ name: 'Helper', run, tools: [] }, /has no option 'tools'; an agent is a function: ask the model in run/],
  [{ name: 'Helper', run, inputSchema: {} },
    /has no option 'inputSchema'; an agent gets a text; what takes arguments is a tool: put it into 'too/],
  [{ name: 'Helper', run, parameters: {} }, /has no option 'parameters'; an agent gets a text; what takes/],
  [{ name: 'Helper', run, execute: run }, /has no option 'execute'; its function is 'run'$/],
]

const tools: readonly (readonly [definition: unknown, sentence: RegExp])[] = [
  [{ name: 'add', run, inputSchema: { a: standard } },
    /The tool 'add': inputSchema: This is a shape, not a schema; write z\.object\(\{ … \}\)/],
  [{ name: 'add', run, parameters: {} },
    /^The tool 'add' has no option 'parameters'; write it as 'inputSchema'$/],
  [{ name: 'add', run, args: {} }, /has no option 'args'; write it as 'inputSchema'$/],
  [{ name: 'add', run, schema: {} }, /has no option 'schema'; write it as 'inputSchema'$/],
  [{ name: 'add', run, output: {} }, /has no option 'output'; write it as 'outputSchema'$/],
  [{ name: 'add', run, execute: run }, /has no option 'execute'; its function is 'run'$/],
  [{ name: 'add', run, func: run }, /has no option 'func'; its function is 'run'$/],
  [{ name: 'add', run, needsApproval: true },
    /has no option 'needsApproval'; ask in run, by call\.elicit, before you do it$/],
]

test('a mistake in a definition says what to write instead of what others have', () => {
  for (const [make, rows] of [[defineAgent, agents], [defineTool, tools]] as const) {
    for (const [definition, sentence] of rows) {
      assert.throws(
        () => make(definition as AgentDefinition & ToolDefinition),
        (error) => error instanceof TypeError && sentence.test(error.message),
      )
    }
  }
})

test('an object of a class says what it lacks, and keeps what is its own', () => {
  class Robot {
    readonly name = 'Robot'
    readonly apikey = 'its own business'
    execute(): string { return '' }
  }
  assert.throws(() => defineAgent(new Robot() as never), /Robot with execute and no 'run'.* theirs\.execute/)
})

test('a skill that lacks its name, and has it misspelt, is named', () => {
  const skills = [{ nam: 'a' }]
  assert.throws(() => createServer({ agents: [run], skills: skills as never }), {
    message: /needs 'name': .*'nam', did you mean 'name'\?$/,
  })
})
