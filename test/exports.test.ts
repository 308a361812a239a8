import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import * as triport from '../lib/index.ts'

/** Everything that a program can import and call. */
const values = [
  'Fault',
  'compile',
  'createServer',
  'defaults',
  'defineAgent',
  'defineGroup',
  'definePrompt',
  'defineResource',
  'defineResourceTemplate',
  'defineTool',
  'launch',
  'memoryStore',
  'openaiAgent',
  'serveStdio',
]

/** Everything that only the compiler sees, by the file that declares it. */
const types = `
  core/agent: Agent AgentDefinition AgentLike Group GroupDefinition Router RouterChoice Run Skill
  core/answer: AgentOutput AnswerInput AnswerState Piece
  core/call: ArtifactInput Call ClientInfo Protocol Severity Trace
  core/catalog: Catalog CatalogChange Offering Served
`

const index = readFileSync('lib/index.ts', 'utf8')

test('what can be imported is exactly this', () => {
  assert.deepEqual(Object.keys(triport).toSorted(), values)
})

test('what is public is named, one by one', () => {
  assert.doesNotMatch(index, /export \*|export default/)
  for (const line of index.split('\n')) assert.doesNotMatch(line, /^(?:const|let|function|class|interface|type) /)
})
