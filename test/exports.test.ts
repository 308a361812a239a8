import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import * as triport from '../lib/index.ts'

/** Everything that a program can import and use. */
const values = `
  Fault checkStore compile createServer defaults defineAgent defineGroup definePrompt defineResource
  defineResourceTemplate defineTool launch memoryStore openaiAgent serveStdio
`

/** Everything that only its compiler sees. */
const types = `
  Ability Address Agent AgentDefinition AgentLike AgentOutput Annotations AnswerInput AnswerState ApiKey
  ArtifactInput AudioContent AuthRequest Authorization Call CallInfo Catalog CatalogChange ChatMessage
  CheckOptions ClientInfo CompileOptions Completer Completers CompletionContext CompletionInput
  CompletionOutput Content ContentInput ContentsInput ElicitAnswer EmbeddedResource Entry FaultKind
  FormQuestion Group GroupDefinition Icon ImageContent Infer InferGiven JsonSchema Keep LaunchOptions
  Launched Limits Log LogLevel Logger MaybePromise McpOptions MemoryStore MemoryStoreOptions NamedKey Offer
  Offering OpenaiOptions Piece Principal Prompt PromptArgument PromptArgumentInput PromptArguments
  PromptDefinition PromptLike PromptMessageInput PromptOutput PromptResultInput Protocol ProtocolChoice
  ProtocolName RateLimit RequestSummary Resource ResourceContents ResourceDefinition ResourceLike
  ResourceLink ResourceOutput ResourceTemplate ResourceTemplateDefinition ResourceTemplateLike Root Router
  RouterChoice Run SampleAnswer SampleQuestion Schema SchemaError Served ServedKind ServerOptions
  ServerStatus Severity Skill StandardSchema StdioOptions Store StoreKey StoreReport Subject TemplateValue
  TextContent TokenInfo Tool ToolAnnotations ToolArguments ToolDefinition ToolLike ToolOutput ToolResult
  ToolResultInput Trace TriportServer UriTemplate UrlAnswer UrlQuestion Validate Validation Variables Verify
`

const index = readFileSync('lib/index.ts', 'utf8')
const EXPORT = /^export (?<type>type )?\{(?<names>[^}]*)\} from '\.\/(?<file>[^']+)'$/gm

interface Public { readonly name: string; readonly file: string; readonly isType: boolean }

const exported: readonly Public[] = [...index.matchAll(EXPORT)].flatMap(({ groups = {} }) => {
  const { type, names = '', file = '' } = groups
  return words(names.replaceAll(',', ' ')).map((name) => ({ name, file, isType: type !== undefined }))
})

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '').toSorted()
}

test('what can be imported is exactly this', () => {
  assert.deepEqual(Object.keys(triport).toSorted(), words(values))
  assert.deepEqual(exported.filter(({ isType }) => !isType).map(({ name }) => name).toSorted(), words(values))
})

test('what the compiler sees is exactly this', () => {
  assert.deepEqual(exported.filter(({ isType }) => isType).map(({ name }) => name).toSorted(), words(types))
})

test('the public face names things and makes none', () => {
  const rest = index.replace(EXPORT, '').replace(/\/\*\*.*?\*\//s, '').trim()
  assert.equal(rest, '')
})

test('whatever is public says what it means', () => {
  for (const { name, file } of exported) {
    const lines = readFileSync(`lib/${file}`, 'utf8').split('\n')
    // What one file passes on is explained in the file that makes it.
    const isMade = new RegExp(`^export (?:async )?(?:const|function|class|interface|type) ${name}\\b`)
    const at = lines.findIndex((line) => isMade.test(line))
    if (at >= 0) assert.match(lines[at - 1]!, /\*\/$/, `${name} in ${file} has no comment`)
  }
})
