import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import * as triport from '../lib/index.ts'
import * as kernel from '../lib/kernel.ts'

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

/** The same of the kernel alone. */
const kernelValues = `
  Fault LiveCall callTool compile complete createServer defaults defineAgent defineGroup definePrompt
  defineResource defineResourceTemplate defineTool getPrompt problemReply readResource runHandler shownFault
`

const kernelTypes = `
  Agent AgentDefinition Call Content Endpoint Exchange Gauge Group GroupDefinition Kernel KernelOptions
  KernelServer KernelStatus Lifetime Opened Part Principal Prompt PromptDefinition Refusal Reply Resource
  ResourceDefinition ResourceTemplate ResourceTemplateDefinition Sink Source Store Tool ToolDefinition
`

const EXPORT = /^export (?<type>type )?\{(?<names>[^}]*)\} from '\.\/(?<file>[^']+)'$/gm

/** `inFile`: what its file calls it. */
interface Public {
  readonly name: string
  readonly inFile: string
  readonly file: string
  readonly isType: boolean
}

/** A public face: its text, what a program gets by it, and what is expected of it. */
interface Face {
  readonly path: string
  readonly module: object
  readonly values: string
  readonly types: string
}

const faces: readonly Face[] = [
  { path: 'lib/index.ts', module: triport, values, types },
  { path: 'lib/kernel.ts', module: kernel, values: kernelValues, types: kernelTypes },
]

function exportedBy(text: string): readonly Public[] {
  return [...text.matchAll(EXPORT)].flatMap(({ groups = {} }) => {
    const { type, names = '', file = '' } = groups
    return names.split(',').map((one) => one.trim()).filter((one) => one !== '').map((one) => {
      const [inFile = '', name = inFile] = one.split(' as ')
      return { name, inFile, file, isType: type !== undefined }
    })
  })
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '').toSorted()
}

for (const { path, module, values, types } of faces) {
  const text = readFileSync(path, 'utf8')
  const exported = exportedBy(text)
  const named = (areTypes: boolean): readonly string[] => (
    exported.filter(({ isType }) => isType === areTypes).map(({ name }) => name).toSorted()
  )

  test(`${path}: what can be imported is exactly this`, () => {
    // What is packed has `$` too, for other files of the package.
    const names = Object.keys(module).filter((name) => name !== '$')
    assert.deepEqual(names.toSorted(), words(values))
    assert.deepEqual(named(false), words(values))
  })

  test(`${path}: what the compiler sees is exactly this`, () => {
    assert.deepEqual(named(true), words(types))
  })

  test(`${path}: the public face names things and makes none`, () => {
    const rest = text.replace(EXPORT, '').replace(/\/\*\*.*?\*\//s, '').trim()
    assert.equal(rest, '')
  })

  test(`${path}: whatever is public says what it means`, () => {
    for (const { name, inFile, file } of exported) {
      const lines = readFileSync(`lib/${file}`, 'utf8').split('\n')
      // What one file passes on is explained in the file that makes it.
      const isMade = new RegExp(`^export (?:async )?(?:const|function|class|interface|type) ${inFile}\\b`)
      const at = lines.findIndex((line) => isMade.test(line))
      if (at >= 0) assert.match(lines[at - 1]!, /\*\/$/, `${name} in ${file} has no comment`)
    }
  })
}

test('while it loads nothing asks for what workers do not have then: random values, timers, requests', () => {
  const program = `
    const refuse = (name) => () => { throw new Error(name + ' is called while a module loads') }
    crypto.getRandomValues = refuse('getRandomValues')
    crypto.randomUUID = refuse('randomUUID')
    for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch']) globalThis[name] = refuse(name)
    await import(process.argv[1])
  `
  for (const file of ['index.js', 'kernel.js', 'testing.js']) {
    const url = pathToFileURL(resolve('dist', file)).href
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program, url], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
  }
})
