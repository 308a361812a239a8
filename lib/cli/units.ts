/**
 * What programs take besides the whole: the parts, stores and agents by the names of their subpaths, as in
 * `triport/mcp`, with what each exports.
 */

/** Something that is taken or left as a whole. */
export interface PackageUnit {
  /** The file that exports its names. */
  readonly file: string
  /** Its names, by the paths of the modules that they come from. */
  readonly names: Readonly<Record<string, readonly string[]>>
  /** Types that it exports besides, in the same way. */
  readonly types?: Readonly<Record<string, readonly string[]>>
  /** Units without which it cannot be used. */
  readonly needs?: readonly string[]
  /** Chapters of the guide that are about it. Left out: the one of its name, where there is one. */
  readonly chapters?: readonly string[]
}

/** Where the kernel's own names come from. */
export const kernelFile = 'kernel.js'
/** Chapters of the guide that hold for every server. */
export const kernelChapters: readonly string[] = [
  'vendoring', 'handlers', 'schemas', 'errors', 'security', 'operating', 'embedding', 'proxies',
  'options-and-limits',
]

const part = (name: string, word: string, needs: readonly string[] = []): [string, PackageUnit] => [
  name, { file: `parts/${name}.js`, names: { [`parts/${name}/part.js`]: [word] }, needs },
]

export const units: ReadonlyMap<string, PackageUnit> = new Map<string, PackageUnit>([
  part('mcp', 'mcp'),
  part('a2a', 'a2a'),
  part('http', 'http'),
  part('openai', 'openai'),
  part('agui', 'agui'),
  part('ui-stream', 'uiStream'),
  part('docs', 'docs'),
  part('metrics', 'metrics'),
  part('telemetry', 'telemetry'),
  ['oauth', {
    file: 'parts/oauth.js',
    names: {
      'parts/oauth/part.js': ['oauth'],
      'parts/oauth/oauth-proxy.js': ['oauthProxy'],
      'parts/oauth/jwks.js': ['jwksVerifier'],
    },
  }],
  ['acp', {
    file: 'parts/acp.js', names: { 'parts/acp/part.js': ['acp'] }, needs: ['stdio'], chapters: ['editors'],
  }],
  ['stdio', { file: 'stdio.js', names: { 'stdio.js': ['serveStdio'] }, chapters: [] }],
  part('mcp-tasks', 'mcpTasks', ['mcp']),
  part('skills', 'skills'),
  part('apps', 'apps', ['mcp']),
  ['adapters', { file: 'adapters.js', names: { 'adapters/frameworks.js': ['adapt', 'frameworks'] } }],
  ['conversations', { file: 'conversations.js', names: { 'conversations.js': ['answerMessage'] } }],
  ['memory', { file: 'stores/memory.js', names: { 'stores/memory.js': ['memoryStore', 'storeOf'] } }],
  ['shared', { file: 'stores/shared.js', names: { 'stores/shared.js': ['shareStore'] } }],
  ['sqlite', { file: 'stores/sqlite.js', names: { 'stores/sqlite/sqlite.js': ['sqliteStore'] } }],
  ['redis', { file: 'stores/redis.js', names: { 'stores/redis/redis.js': ['redisStore'] } }],
  ['postgres', { file: 'stores/postgres.js', names: { 'stores/postgres/postgres.js': ['postgresStore'] } }],
  ['cluster', {
    file: 'stores/cluster.js', names: { 'stores/cluster/worker-store.js': ['hostStore', 'workerStore'] },
    needs: ['shared'],
  }],
  ['openai-agent', { file: 'agents/openai.js', names: { 'agents/openai/openai.js': ['openaiAgent'] } }],
  ['assistant', {
    file: 'agents/assistant.js', names: { 'agents/assistant/assistant.js': ['assistant', 'tools'] },
  }],
  ['testing', {
    file: 'testing.js',
    names: { 'testing/test-client.js': ['testClient'], 'testing/store/check.js': ['checkStore'] },
  }],
])
