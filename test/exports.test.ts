import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import * as triport from '../lib/index.ts'

/** Everything that a program can import and use. */
const values = `
  Fault adapt checkStore compile createServer defaults defineAgent defineGroup definePrompt defineResource
  defineResourceTemplate defineTool hostStore jwksVerifier launch memoryStore oauthProxy openaiAgent
  postgresStore redisStore serveStdio sqliteStore testClient workerStore
`

/** Everything that only its compiler sees. */
const types = `
  AdaptOptions Address Agent AgentDefinition AgentOutput AnswerInput ApiKey Around ArtifactInput
  Authorization Call CallEvent CallInfo Catalog ChatMessage Claims ClientInfo ClientTool ClientToolCall
  ClientToolResult CompileOptions Completer Content ContentInput ElicitAnswer Entry ExtendedCard FaultKind
  ForeignAgent FormQuestion Group GroupDefinition Handler Infer JsonSchema JwksAlgorithm JwksOptions Keep
  LaunchOptions Launched Limits Log Logger MaybePromise MemoryStore MemoryStoreOptions OauthProxyOptions
  Offer OpenTelemetry OpenaiOptions PostgresPool PostgresStoreOptions Principal Prompt PromptDefinition
  Protocol ProtocolName ProviderTokens RateLimit RedisClient RedisStoreOptions RequestSummary Resource
  ResourceDefinition ResourceTemplate ResourceTemplateDefinition Root Router Run SampleAnswer SampleQuestion
  Schema SchemaError ServerOptions ServerStatus Severity Skill SqliteStore SqliteStoreOptions StandardSchema
  StdioOptions Store StoreKey StoreReport Subject TestClient TestClientError TestClientOptions TokenInfo
  TokenVerifier Tool ToolChoice ToolDefinition ToolResultInput Trace TriportServer UrlAnswer UrlQuestion
  Validate Validation Variables Verify
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
